//! The form that books goods in or out, the quickest path of the product. It carries a once-only token, so that a double tap books once.

use askama::Template;
use axum::extract::{Request, State as Extracted};
use http::Method;
use resource::Words;

use super::{
    super::words::{Texts, texts},
    super::{Movement, MovementRecord},
    Answer, Page, product_picker, supplier_picker, told, undo,
};
use crate::{
    accounts::Verb,
    page::{
        Form, Frame, PageState, Post,
        flash::{self, Flash},
        picked_next,
        picker::Picked,
        see_other,
    },
    rest::{
        Refusal,
        query::Parameters,
        resource::{Created, Submission},
    },
    stock::movements::{self, repeat},
};

/// The fields in the order of the form.
const FIELDS: &[&str] = &["product", "supplier", "quantity", "description"];

#[derive(Template)]
#[template(path = "stock/movement_form.html")]
struct FormPage<'a> {
    frame: &'a Frame,
    words: &'a Words,
    texts: &'a Texts,
    form: &'a Form,
    product: &'a Picked,
    /// Of inflows only.
    supplier: Option<&'a Picked>,
    add_supplier: String,
    next: &'a str,
}

/// What the form shows.
struct Shown {
    form: Form,
    product: Picked,
    supplier: Option<Picked>,
    next: String,
}

impl Shown {
    fn page<'a>(&'a self, frame: &'a Frame, movement: Movement, texts: &'a Texts) -> FormPage<'a> {
        let supplier = self.supplier.as_ref();
        FormPage {
            frame,
            words: movement.words(),
            texts,
            form: &self.form,
            product: &self.product,
            supplier,
            add_supplier: supplier
                .map(|supplier| supplier.add_address(frame))
                .unwrap_or_default(),
            next: &self.next,
        }
    }
}

/// `GET …/new/`, with a product and a supplier that the address may bring.
pub(super) async fn new(
    movement: Movement,
    Extracted(page): Page,
    frame: Frame,
    request: Request,
) -> Answer {
    frame.require(Verb::Add, movement.model())?;
    let asked = Parameters::of_address(request.uri());
    let state = &page.state;
    let supplier = if movement == Movement::Inflow {
        let picked = supplier_picker(&frame);
        Some(picked.choose_known(state, asked.get("supplier")).await?)
    } else {
        None
    };
    let product = product_picker(&frame);
    let shown = Shown {
        form: Form::new()
            .with("quantity", asked.get("quantity").unwrap_or("1"))
            .with("description", asked.get("description").unwrap_or_default()),
        product: product.choose_known(state, asked.get("product")).await?,
        supplier,
        next: asked.get("next").unwrap_or_default().to_owned(),
    };
    Ok(frame.show(shown.page(&frame, movement, &texts(movement))))
}

/// `POST …/new/`
pub(super) async fn book(
    movement: Movement,
    Extracted(page): Page,
    frame: Frame,
    request: Request,
) -> Answer {
    frame.require(Verb::Add, movement.model())?;
    let (parts, body) = request.into_parts();
    let mut post = Post::read(&page.state, &parts, body).await?;
    let (state, locale) = (&page.state, frame.locale);
    post.counts(&["quantity"], locale);
    let product = post.pick(state, product_picker(&frame), locale).await?;
    let supplier = if movement == Movement::Inflow {
        Some(post.pick(state, supplier_picker(&frame), locale).await?)
    } else {
        None
    };
    post.blank_is_none(&["description"]);
    let mut shown = Shown {
        next: post.text("next"),
        form: post.form.clone(),
        product,
        supplier,
    };
    if shown.form.is_refused() {
        let errors = movements::problems(movement, &post.members);
        shown.form.absorb(&errors, locale);
        return Ok(again(movement, &frame, shown));
    }
    match movements::create(state, movement, submission(movement, &frame, &post)).await {
        Ok(created) => {
            let record = booked(&page, movement, created).await?;
            Ok(done(movement, &page, &frame, record.as_ref(), &shown.next).await?)
        }
        Err(refusal) => {
            shown.form.take(refusal, locale)?;
            Ok(again(movement, &frame, shown))
        }
    }
}

fn again(movement: Movement, frame: &Frame, mut shown: Shown) -> axum::response::Response {
    shown.form.sort(FIELDS);
    frame.show_again(shown.page(frame, movement, &texts(movement)))
}

/// The form as the service takes it.
fn submission(movement: Movement, frame: &Frame, post: &Post) -> Submission {
    let once = post.repeatable(frame, movement.path());
    let (key, fingerprint) = once.map(|once| (once.key, once.fingerprint)).unzip();
    Submission {
        caller: frame.caller.clone(),
        method: Method::POST,
        members: post.members.clone(),
        key,
        fingerprint: fingerprint.unwrap_or_default(),
    }
}

/// The movement that was booked, now or by the first of two taps; none when it has been undone since.
async fn booked(
    page: &PageState,
    movement: Movement,
    created: Created<MovementRecord>,
) -> Result<Option<MovementRecord>, Refusal> {
    let body = match created {
        Created::New(record) => return Ok(Some(record)),
        Created::Replayed(body) => body,
    };
    match repeat::id_in(&body)? {
        Some(id) => movements::read(&page.state, movement, id).await,
        None => Ok(None),
    }
}

async fn done(
    movement: Movement,
    page: &PageState,
    frame: &Frame,
    record: Option<&MovementRecord>,
    next: &str,
) -> Result<axum::response::Response, Refusal> {
    let next = picked_next(next, "", 0).unwrap_or_else(|| format!("/{}/", movement.path()));
    let Some(record) = record else {
        let text = frame.text("Isto já foi desfeito.", "This has been undone already.");
        return Ok(flash::leave(see_other(&next), Flash::warning(text)));
    };
    let text = told(page, frame, texts(movement).booked, record).await?;
    let flash = undo(movement, frame, record, Flash::success(text));
    Ok(flash::leave(see_other(&next), flash))
}
