//! The form of a new payment link: an amount and a description, or products at their selling
//! prices. The lines exist only in the form until the order is created. Every button first adds the
//! chosen product, so users always see the sum before they create an order.

use askama::Template;
use axum::response::Response;
use db::{Money, Timestamp};
use http::StatusCode;
use resource::{Field, price, text};
use web::locale::in_sao_paulo;

use super::{
    super::{
        Failure,
        client::CheckoutError,
        model::{ExactAmount, NewCheckoutOrder, NewOrderItem},
    },
    TITLE_HOLDS_CARD, error_text,
    list::moment,
    order_address, read_amount, require, unavailable,
};
use crate::{
    access::{Model, Verb},
    catalogue::products::{self, ProductRecord},
    page::{
        Form, FormSubmission, Frame, PageResult, flash,
        form_token::{FormToken, TOKEN},
        numbers,
        picker::Picker,
        see_other, shortened,
    },
    payments,
    rest::{Refusal, query::Parameters},
};

/// The path of the form's idempotency key.
const PATH: &str = "payments/new";
const FIELDS: &[&str] = &[
    "product",
    "quantity",
    AMOUNT.name,
    "description",
    REFERENCE.name,
    EXPIRES_ON.name,
];
const AMOUNT: &Field = &price::<Money>("Valor", "Amount").named("amount");
const REFERENCE: &Field =
    &text::<Option<String>>("Número do pedido", "Order number", 64).named("reference");
const EXPIRES_ON: &Field =
    &text::<Option<String>>("Válido até", "Valid until", 10).named("expires_on");
/// The most lines of an order, and the most units of a line.
const MAX_LINES: usize = 100;
const MAX_QUANTITY: i64 = 1_000_000;
/// The most characters of a description and of an item's title.
const MAX_TEXT: usize = 256;
/// The number of days after today on which a link may expire at the latest.
const MAX_DAYS: i64 = 29;

/// A product of the order.
struct LinkLine {
    product: ProductRecord,
    quantity: i64,
    /// The quantity as typed.
    typed: String,
    problem: String,
}

impl LinkLine {
    fn sum(&self) -> Option<Money> {
        self.product.selling_price.checked_mul(self.quantity)
    }
}

/// The form with its lines.
struct LinkForm {
    form: Form,
    product: Picker,
    lines: Vec<LinkLine>,
}

#[derive(Template)]
#[template(path = "payments/link.html")]
struct LinkPage<'a> {
    frame: &'a Frame,
    link: &'a LinkForm,
    token: String,
    /// Today, and the last day on which a link may expire.
    days: (String, String),
}

impl LinkForm {
    fn sum(&self) -> Option<Money> {
        let mut lines = self.lines.iter();
        lines.try_fold(Money::ZERO, |sum, line| sum.checked_add(line.sum()?))
    }

    /// The products' ids, in the order of the lines.
    fn ids(&self) -> String {
        let ids = self.lines.iter().map(|line| line.product.id.to_string());
        ids.collect::<Vec<_>>().join(",")
    }

    fn page<'a>(&'a self, frame: &'a Frame) -> LinkPage<'a> {
        LinkPage {
            frame,
            link: self,
            token: frame.once_only_token(),
            days: days(frame.state.clock.now()),
        }
    }
}

/// Today, and the last day on which a link may expire.
fn days(now: Timestamp) -> (String, String) {
    let today = in_sao_paulo(now).date();
    let last = today
        .checked_add(jiff::Span::new().days(MAX_DAYS))
        .unwrap_or(today);
    (today.to_string(), last.to_string())
}

/// `GET /payments/new/`
pub(super) async fn new(frame: Frame, parameters: Parameters) -> PageResult {
    require(&frame, Verb::Add, Model::Order)?;
    let product = Picker::product(&frame);
    let link = LinkForm {
        form: Form::new().with("quantity", "1"),
        product: product
            .choose_known(&frame.state, parameters.get("product"))
            .await?,
        lines: Vec::new(),
    };
    Ok(frame.show(link.page(&frame)))
}

/// `POST /payments/new/`
pub(super) async fn create(frame: Frame, mut post: FormSubmission) -> PageResult {
    require(&frame, Verb::Add, Model::Order)?;
    let picked = post.pick(&frame, Picker::product(&frame)).await?;
    let mut link = LinkForm {
        form: post.form,
        product: picked,
        lines: Vec::new(),
    };
    read_lines(&frame, &mut link).await?;
    let step = link.form.value("do").to_owned();
    if let Some(id) = step.strip_prefix("remove-") {
        link.lines.retain(|line| line.product.id.to_string() != id);
    }
    let is_added = add_picked(&frame, &mut link).await?;
    if step == "add" && !is_added && !link.form.is_refused() {
        let choose = frame.text("Escolha um produto.", "Choose a product.");
        link.form.complain("product", choose);
    }
    if step != "create" || is_added || link.form.is_refused() {
        return Ok(again(&frame, link));
    }
    let Some(order) = order(&frame, &mut link) else {
        return Ok(again(&frame, link));
    };
    let key = FormToken::key(&link.form, frame.caller.id, PATH);
    let key = key.unwrap_or_else(|| frame.once_only_token());
    match payments::create_order(&frame.state, &frame.caller, &order, &key).await {
        Ok(order) => {
            let text = frame.text(
                "Link criado. Envie-o a quem vai pagar.",
                "Link created. Send it to the buyer.",
            );
            Ok(flash::success(see_other(&order_address(&order.id)), text))
        }
        Err(Failure::Refused(error)) => {
            add_error(&frame, &mut link, &error);
            Ok(again(&frame, link))
        }
        Err(failure @ (Failure::Unreachable(_) | Failure::Unanswered(_))) => {
            Ok(unanswered(&frame, link, &failure))
        }
        Err(failure) => Ok(unavailable(&frame, failure)),
    }
}

/// Shows the form again with the same token. Sending it again creates the order only if it does not
/// exist yet.
fn unanswered(frame: &Frame, mut link: LinkForm, failure: &Failure) -> Response {
    let text = match failure {
        Failure::Unreachable(_) => frame.text(
            "O serviço de pagamentos não está acessível agora. Nada foi criado: tente de novo em alguns instantes.",
            "The payment service cannot be reached right now. Nothing was created: try again in a moment.",
        ),
        _ => frame.text(
            "O serviço de pagamentos não respondeu a tempo. Envie de novo: o link é criado uma só vez.",
            "The payment service did not respond in time. Send it again: the link is created only once.",
        ),
    };
    text.clone_into(&mut link.form.problem);
    let mut form = link.page(frame);
    link.form.value(TOKEN).clone_into(&mut form.token);
    frame.show_with(StatusCode::BAD_GATEWAY, form)
}

/// Shows the form again: 200 after a change of its lines, 422 with errors.
fn again(frame: &Frame, mut link: LinkForm) -> Response {
    link.form.sort(FIELDS);
    frame.show_form(link.form.is_refused(), link.page(frame))
}

/// Reads the lines of the form at current prices. A price that changed since the form was shown is
/// an error.
async fn read_lines(frame: &Frame, link: &mut LinkForm) -> Result<(), Refusal> {
    let ids = link.form.value("lines").to_owned();
    let ids = ids.split(',').filter_map(|id| id.parse::<i64>().ok());
    for id in ids.take(MAX_LINES) {
        let Some(product) = products::read(&frame.state, id).await? else {
            let text = frame.text(
                "Um produto da lista foi excluído. Confira o total.",
                "A product in the list was deleted. Check the total.",
            );
            text.clone_into(&mut link.form.problem);
            continue;
        };
        let typed = link.form.value(&format!("quantity_{id}")).to_owned();
        let quantity = quantity(frame, &typed);
        let was = link.form.value(&format!("price_{id}"));
        if !was.is_empty() && was != product.selling_price.to_string() {
            link.form.problem = format!(
                "{} {}: {}.",
                frame.text(
                    "O preço mudou. Confira o total.",
                    "A price has changed. Check the total."
                ),
                product.title,
                frame.locale.money(product.selling_price)
            );
        }
        let problem = quantity.as_ref().err().cloned().unwrap_or_default();
        if !problem.is_empty() && link.form.problem.is_empty() {
            let check = frame.text("Confira a quantidade de", "Check the quantity of");
            link.form.problem = format!("{check} {}.", product.title);
        }
        link.lines.push(LinkLine {
            product,
            quantity: quantity.unwrap_or(1),
            typed,
            problem,
        });
    }
    Ok(())
}

fn quantity(frame: &Frame, typed: &str) -> Result<i64, String> {
    let plain = numbers::count(typed, frame.locale).ok();
    let quantity = plain.and_then(|plain| plain.parse().ok());
    let quantity = quantity.filter(|quantity| (1..=MAX_QUANTITY).contains(quantity));
    quantity.ok_or_else(|| {
        let from = frame.text(
            "Digite um número inteiro de 1 a",
            "Enter a whole number from 1 to",
        );
        format!("{from} {}.", frame.locale.number(MAX_QUANTITY))
    })
}

/// Adds the chosen product to the lines. Returns whether there was one.
async fn add_picked(frame: &Frame, link: &mut LinkForm) -> Result<bool, Refusal> {
    let id = link.product.id.parse::<i64>().ok();
    if id.is_none() && link.form.error("product").is_empty() {
        return Ok(false);
    }
    let typed = link.form.value("quantity").to_owned();
    let quantity = match quantity(frame, &typed) {
        Ok(quantity) => quantity,
        Err(message) => {
            link.form.complain("quantity", message);
            return Ok(false);
        }
    };
    let Some(id) = id else {
        return Ok(false);
    };
    let is_full = link.lines.len() >= MAX_LINES;
    if let Some(line) = link.lines.iter_mut().find(|line| line.product.id == id) {
        line.quantity = (line.quantity + quantity).min(MAX_QUANTITY);
        line.typed = line.quantity.to_string();
    } else if is_full {
        let full = frame.text(
            "Um link pode ter até 100 produtos.",
            "A link can have up to 100 products.",
        );
        link.form.complain("product", full);
        return Ok(false);
    } else if let Some(product) = products::read(&frame.state, id).await? {
        link.lines.push(LinkLine {
            product,
            quantity,
            typed: quantity.to_string(),
            problem: String::new(),
        });
    }
    link.product = Picker::product(frame);
    link.form.set("quantity", "1");
    Ok(true)
}

/// The order of the form; `None` when the form has errors.
fn order(frame: &Frame, link: &mut LinkForm) -> Option<NewCheckoutOrder> {
    let amount = if link.lines.is_empty() {
        let invalid = frame.text(
            "Digite um valor em reais, como 149,90, ou adicione produtos.",
            "Enter an amount, such as 149.90, or add products.",
        );
        read_amount(frame, &mut link.form, AMOUNT, invalid)
    } else {
        check_sum(frame, link);
        None
    };
    let description = description(frame, link);
    let expires_at = expires_at(frame, &mut link.form);
    let reference = one_line(link.form.value(REFERENCE.name));
    if link.form.is_refused() {
        return None;
    }
    Some(NewCheckoutOrder {
        reference: Some(reference).filter(|reference| !reference.is_empty()),
        description,
        amount: amount.map(ExactAmount),
        items: link.lines.iter().map(item).collect(),
        expires_at,
    })
}

fn item(line: &LinkLine) -> NewOrderItem {
    NewOrderItem {
        title: shortened(&one_line(&line.product.title), MAX_TEXT),
        quantity: line.quantity,
        unit_price: ExactAmount(line.product.selling_price),
        sku: line.product.serie_number.clone(),
    }
}

/// Checks the sum of the products, which replaces a typed amount.
fn check_sum(frame: &Frame, link: &mut LinkForm) {
    let is_payable = link.sum().is_some_and(|sum| sum > Money::ZERO);
    if !is_payable {
        let text = frame.text(
            "O total dos produtos precisa ser maior que zero.",
            "The total of the products must be more than zero.",
        );
        text.clone_into(&mut link.form.problem);
    }
}

/// The typed description, or the products: `1.000 × Café, 1 × Filtro`.
fn description(frame: &Frame, link: &mut LinkForm) -> String {
    let typed = one_line(link.form.value("description"));
    if typed.is_empty() && link.lines.is_empty() {
        let text = frame.text(
            "Informe o que está sendo pago.",
            "Enter what is being paid for.",
        );
        link.form.complain("description", text);
    }
    if !typed.is_empty() {
        return typed;
    }
    let lines = link.lines.iter();
    let quantity = |line: &LinkLine| frame.locale.number(line.quantity);
    let lines = lines.map(|line| format!("{} × {}", quantity(line), line.product.title));
    let text = lines.collect::<Vec<_>>().join(", ");
    shortened(&one_line(&text), MAX_TEXT)
}

/// A text with spaces in place of control characters, which checkout refuses.
fn one_line(text: &str) -> String {
    text.replace(char::is_control, " ").trim().to_owned()
}

/// The last second of the chosen day, or `None` for checkout's default. It does not depend on the
/// current time, so that a retry of the form is the same request.
fn expires_at(frame: &Frame, form: &mut Form) -> Option<String> {
    let day = form.value(EXPIRES_ON.name).trim().to_owned();
    if day.is_empty() {
        return None;
    }
    let now = frame.state.clock.now();
    let (first, last) = days(now);
    let is_within = (first.as_str()..=last.as_str()).contains(&day.as_str());
    let end = moment(&day, true, now).filter(|_| is_within);
    if end.is_none() {
        let text = frame.text(
            "Escolha um dia entre hoje e daqui a 29 dias.",
            "Choose a day between today and 29 days from now.",
        );
        form.complain_of(EXPIRES_ON, text);
    }
    end.map(|end| end.to_string())
}

/// The index in the path of an item's member, such as `items[0].title`.
fn item_index(member: &str) -> Option<usize> {
    let (index, _) = member.strip_prefix("items[")?.split_once(']')?;
    index.parse().ok()
}

/// Adds checkout's error to the field or the line that it is about. With lines the sum is no field,
/// and a description that was not typed is made of their titles.
fn add_error(frame: &Frame, link: &mut LinkForm, error: &CheckoutError) {
    let (name, form) = (error.field.as_deref().unwrap_or_default(), &mut link.form);
    let has_field = match name {
        "amount" => link.lines.is_empty(),
        "description" => !form.value(name).trim().is_empty(),
        _ => true,
    };
    let text = match name {
        "amount" => frame.text(
            "O valor é maior do que o serviço de pagamentos aceita.",
            "The amount is more than the payment service accepts.",
        ),
        "description" if !has_field => frame.say(TITLE_HOLDS_CARD),
        _ => error_text(frame, error),
    };
    match name {
        "expires_at" => form.complain_of(EXPIRES_ON, text),
        "amount" if has_field => form.complain_of(AMOUNT, text),
        "reference" => form.complain_of(REFERENCE, text),
        "description" if has_field => form.complain("description", text),
        _ => match item_index(name).and_then(|index| link.lines.get_mut(index)) {
            Some(refused) => {
                form.problem = format!("{}: {text}", refused.product.title);
                text.clone_into(&mut refused.problem);
            }
            None => text.clone_into(&mut form.problem),
        },
    }
}
