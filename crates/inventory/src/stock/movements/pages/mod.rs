//! The pages of inflows and outflows, one implementation for both: the list and one movement here, its form in `form`.

mod form;

use askama::Template;
use axum::{
    extract::{Request, State as Extracted},
    response::Response,
};
use resource::{Field, Listed, Record as _, Value, Words, filters, laid_out, listed};

use super::{DAYS, Movement, MovementEntry, MovementRecord, words::texts};
use crate::{
    access::{Model, Verb},
    catalogue::products,
    page::{
        Form, Frame, PageState, Post,
        delete::Deletion,
        flash::{self, Flash},
        index::{self, Action, Address, Cell, Days, Filter, Index, Link, Row},
        picked_next,
        picker::Picked,
        posts,
        routes::{PageRouter, get},
        see_other,
    },
    rest::{
        Refusal,
        query::{Parameters, encode},
        resource::RecordId,
    },
    stock::orders,
    work,
};

type Answer = Result<Response, web::Error>;
type Page = Extracted<PageState>;

/// The addresses of a movement's pages.
pub(crate) fn routes(movement: Movement) -> PageRouter {
    let base = format!("/{}/", movement.path());
    let below = |path: &str| format!("{base}{path}");
    PageRouter::new()
        .route(
            &base,
            get(async move |page: Page, frame: Frame, request: Request| {
                list(movement, page, frame, request).await
            }),
        )
        .route(
            &below("export/"),
            get(async move |page: Page, frame: Frame, request: Request| {
                export(movement, page, frame, request).await
            }),
        )
        .route(
            &below("new/"),
            get(async move |page: Page, frame: Frame, request: Request| {
                form::new(movement, page, frame, request).await
            })
            .post(async move |page: Page, frame: Frame, request: Request| {
                form::book(movement, page, frame, request).await
            }),
        )
        .route(
            &below("{id}/"),
            get(async move |page: Page, frame: Frame, id: RecordId| {
                detail(movement, page, frame, id).await
            }),
        )
        .route(
            &below("{id}/delete/"),
            get(async move |page: Page, frame: Frame, id: RecordId| {
                ask(movement, page, frame, id).await
            })
            .post(
                async move |page: Page, frame: Frame, id: RecordId, request: Request| {
                    delete(movement, page, frame, id, request).await
                },
            ),
        )
}

fn address(movement: Movement, id: i64) -> String {
    format!("/{}/{id}/", movement.path())
}

/// The fields as people read them, the product first.
fn fields(movement: Movement) -> Vec<&'static Field> {
    let mut fields = listed(&laid_out(movement.fields()), Listed::Nowhere);
    fields.retain(|field| *field != MovementRecord::id);
    fields
}

/// Those that the list shows.
fn columns(movement: Movement) -> Vec<&'static Field> {
    listed(&fields(movement), Listed::Everywhere)
}

/// The pickers of what a movement refers to.
fn pickers(movement: Movement, frame: &Frame) -> impl Iterator<Item = Picked> {
    let fields = fields(movement).into_iter();
    fields.filter_map(|field| Picked::of(frame, field))
}

/// What the list is asked for: the parameters that the service reads, and the form that shows them.
struct Asked {
    parameters: Parameters,
    form: Form,
    picked: Vec<Picked>,
}

impl Asked {
    async fn read(
        movement: Movement,
        page: &PageState,
        frame: &Frame,
        mut parameters: Parameters,
    ) -> Result<Self, Refusal> {
        let (mut form, locale) = (Form::new(), frame.locale);
        for day in DAYS {
            form.set(day.name, parameters.get(day.name).unwrap_or_default());
        }
        let mut picked = Vec::new();
        for picker in pickers(movement, frame) {
            let known = &page.state;
            let record = posts::filter_record(known, picker, &mut parameters, &mut form, locale);
            picked.push(record.await?);
        }
        Ok(Self {
            parameters,
            form,
            picked,
        })
    }
}

async fn list(movement: Movement, Extracted(page): Page, frame: Frame, request: Request) -> Answer {
    frame.require(Verb::View, movement.model())?;
    let parameters = Parameters::of_address(request.uri());
    let asked = Asked::read(movement, &page, &frame, parameters).await?;
    let parameters = asked.parameters.clone();
    let mut index = empty_index(movement, &frame, asked);
    match super::list(&page.state, movement, &parameters).await {
        Ok(found) => {
            let may_delete = frame.may(Verb::Delete, movement.model());
            index.fill(&found, |record| row(movement, &frame, record, may_delete));
        }
        Err(Refusal::Fields(errors)) => index.form.absorb(&errors, frame.locale),
        Err(refusal) => return Err(refusal.into()),
    }
    let receive = receive(movement, &frame);
    Ok(index.show_beside(&frame, receive.as_slice()))
}

/// The way to book a whole invoice, for those who may.
fn receive(movement: Movement, frame: &Frame) -> Option<Link> {
    let may = movement == Movement::Inflow && frame.may(Verb::Add, movement.model());
    may.then(|| Link {
        icon: "receipt",
        text: frame.text("Receber mercadoria", "Receive goods"),
        address: "/receiving/".to_owned(),
    })
}

/// What the list is narrowed by.
pub(crate) fn parameters(movement: Movement) -> Vec<&'static str> {
    let mut known = filters(movement.fields());
    known.extend(DAYS.iter().map(|day| day.name));
    known
}

fn empty_index(movement: Movement, frame: &Frame, asked: Asked) -> Index {
    let Asked {
        parameters,
        form,
        picked,
    } = asked;
    let known = self::parameters(movement);
    let path = format!("/{}/", movement.path());
    let address = Address::new(path, &known, "-created_at", &parameters);
    let chosen = picked.iter().filter_map(|picked| picked.chip(&address));
    let days = Days::Utc.chips(frame, &address, &parameters);
    let chips = chosen.chain(days).collect();
    let records = picked.into_iter().map(Filter::Record);
    Index {
        form,
        chips,
        filters: records.chain(Days::Utc.filters(frame)).collect(),
        ..Index::of(
            frame,
            movement.words(),
            movement.model(),
            texts(movement).icon,
            address,
            &columns(movement),
        )
    }
}

fn row(movement: Movement, frame: &Frame, record: &MovementRecord, may_delete: bool) -> Row {
    let values = record.values_of(&columns(movement)).into_iter();
    let cells = values.map(|(field, value)| match Cell::of(frame, field, value) {
        Cell::Text(title) if field.is_name => Cell::Link(address(movement, record.id), title),
        Cell::Number(units) => Cell::Number(match movement {
            Movement::Inflow => format!("+{units}"),
            Movement::Outflow => format!("−{units}"),
        }),
        cell => cell,
    });
    let action = |text: &str, address, is_dialog| Action {
        icon: "undo",
        text: format!("{text}: {}", record.product.title),
        address,
        is_dialog,
    };
    let correct = frame.text("Corrigir o estoque", "Correct the stock");
    let action = if may_delete {
        let delete = format!("{}delete/", address(movement, record.id));
        Some(action(frame.text("Excluir", "Delete"), delete, false))
    } else {
        correction(movement, frame, record).map(|address| action(correct, address, true))
    };
    Row {
        cells: cells.collect(),
        actions: action.into_iter().collect(),
    }
}

async fn export(
    movement: Movement,
    Extracted(page): Page,
    frame: Frame,
    request: Request,
) -> Answer {
    frame.require(Verb::View, movement.model())?;
    let parameters = Parameters::of_address(request.uri());
    let asked = Asked::read(movement, &page, &frame, parameters).await?;
    if asked.form.is_refused() {
        return Ok(index::back_to_list(request.uri()));
    }
    let parameters = asked.parameters;
    let columns = index::headings(&frame, movement.fields());
    let read = async move |conn: &mut db::Conn, sheet: &index::Sheet| {
        let put = |record: &MovementRecord| sheet.record(record);
        super::each(conn, movement, &parameters, put).await
    };
    let name = movement.path();
    let file = index::export(&page.state, &frame, name, &columns, read).await;
    Ok(index::or_back_to_list(file, request.uri())?)
}

#[derive(Template)]
#[template(path = "stock/movement.html")]
struct DetailPage<'a> {
    frame: &'a Frame,
    words: &'a Words,
    record: &'a MovementRecord,
    booking: Option<MovementEntry>,
    /// The paid order that an outflow came from: its page, and what people call it.
    order: Option<(String, String)>,
    may_delete: bool,
    /// Where it is corrected by whoever may not delete it.
    correction: Option<String>,
    /// What is known of it: what it is called, the value, and where it leads.
    facts: Vec<Fact>,
}

struct Fact {
    name: &'static str,
    value: String,
    address: Option<String>,
}

impl Fact {
    fn of(frame: &Frame, field: &Field, value: Value<'_>) -> Self {
        let address = match (field.target, value) {
            (Some(target), Value::Reference { id, .. }) => Some(format!("/{}/{id}/", target.path)),
            _ => None,
        };
        Self {
            name: frame.say(field.short),
            value: field.shown(value, frame.locale),
            address,
        }
    }
}

impl DetailPage<'_> {
    /// What all its units cost, or were sold for.
    fn value(&self, entry: &MovementEntry) -> Option<String> {
        let value = entry.price.checked_mul(self.record.quantity)?;
        Some(self.frame.locale.money(value))
    }
}

async fn find(
    movement: Movement,
    page: &PageState,
    RecordId(id): RecordId,
) -> Result<MovementRecord, Refusal> {
    let id = id.ok_or(Refusal::NotFound)?;
    let found = super::read(&page.state, movement, id).await?;
    found.ok_or(Refusal::NotFound)
}

async fn detail(movement: Movement, Extracted(page): Page, frame: Frame, id: RecordId) -> Answer {
    frame.require(Verb::View, movement.model())?;
    let record = find(movement, &page, id).await?;
    Ok(frame.show(DetailPage {
        frame: &frame,
        words: movement.words(),
        booking: super::booking(&page.state, movement, &record).await?,
        order: match movement {
            Movement::Inflow => None,
            Movement::Outflow => orders::pages::origin(&page, &frame, record.id).await?,
        },
        may_delete: frame.may(Verb::Delete, movement.model()),
        correction: correction(movement, &frame, &record),
        facts: record
            .values_of(&fields(movement))
            .into_iter()
            .map(|(field, value)| Fact::of(&frame, field, value))
            .collect(),
        record: &record,
    }))
}

fn deletion(movement: Movement, frame: &Frame, record: &MovementRecord, next: String) -> Deletion {
    let words = movement.words();
    let quantity = frame.locale.number(record.quantity);
    Deletion {
        title: words.ask_to_delete(frame.locale),
        name: format!("{quantity} × {}", record.product.title),
        sentence: frame.say(texts(movement).sentence),
        confirm: words.confirm_to_delete(frame.locale),
        back: address(movement, record.id),
        next,
        blocking: Some((
            frame
                .text("Ver o extrato do produto", "See the product's ledger")
                .to_owned(),
            format!("/products/{}/ledger/", record.product.id),
        )),
        problem: String::new(),
    }
}

async fn ask(movement: Movement, Extracted(page): Page, frame: Frame, id: RecordId) -> Answer {
    frame.require(Verb::Delete, movement.model())?;
    let record = find(movement, &page, id).await?;
    let foreseen = super::check_deletion(&page.state, movement, &record).await;
    Ok(deletion(movement, &frame, &record, String::new()).ask(&frame, foreseen)?)
}

async fn delete(
    movement: Movement,
    Extracted(page): Page,
    frame: Frame,
    id: RecordId,
    request: Request,
) -> Answer {
    frame.require(Verb::Delete, movement.model())?;
    let (parts, body) = request.into_parts();
    let post = Post::read(&page.state, &parts, body).await?;
    let next = picked_next(&post.text("next"), "", 0);
    let next = next.unwrap_or_else(|| format!("/{}/", movement.path()));
    let record = match find(movement, &page, id).await {
        // Undone already, perhaps by the same tap.
        Err(Refusal::NotFound) => {
            let text = frame.text("Isto já foi desfeito.", "This has already been undone.");
            return Ok(flash::leave(see_other(&next), Flash::warning(text)));
        }
        found => found?,
    };
    match work::delete(&page.state, &frame.caller, movement, record.id).await {
        Ok(_) => {
            let text = told(&page, &frame, texts(movement).undone, &record).await?;
            Ok(flash::leave(see_other(&next), Flash::success(text)))
        }
        Err(refusal) => Ok(deletion(movement, &frame, &record, next).refuse(&frame, refusal)?),
    }
}

/// What is told of a movement that was booked or undone, with the balance that it left.
async fn told(
    page: &PageState,
    frame: &Frame,
    said: (&'static str, &'static str),
    record: &MovementRecord,
) -> Result<String, Refusal> {
    let locale = frame.locale;
    let product = products::read(&page.state, record.product.id).await?;
    let balance = product.map_or(0, |product| product.quantity);
    Ok(format!(
        "{}: {} × {}. {} {}.",
        frame.say(said),
        locale.number(record.quantity),
        record.product.title,
        frame.text("Novo saldo:", "New balance:"),
        locale.number(balance)
    ))
}

/// Undoing is deleting: who may not delete is led to the product's stock instead.
fn undo(movement: Movement, frame: &Frame, record: &MovementRecord, flash: Flash) -> Flash {
    if frame.may(Verb::Delete, movement.model()) {
        return flash.undo(format!("{}delete/", address(movement, record.id)));
    }
    match correction(movement, frame, record) {
        Some(address) => flash.correct(address),
        None => flash,
    }
}

/// The form that puts the product's stock right, filled in as if the movement had not been; none for those who may not.
fn correction(movement: Movement, frame: &Frame, record: &MovementRecord) -> Option<String> {
    if !frame.may(Verb::Change, Model::Product) {
        return None;
    }
    let of = match movement {
        Movement::Inflow => frame.text("Correção da entrada", "Correction of inflow"),
        Movement::Outflow => frame.text("Correção da saída", "Correction of outflow"),
    };
    let mut note = String::new();
    encode(&format!("{of} #{}", record.id), &mut note);
    Some(format!(
        "/products/{}/adjust/?by={}&reason=other&note={note}",
        record.product.id,
        -movement.change(record.quantity)
    ))
}
