//! The pages of inflows and outflows, one implementation for both: the list and one movement here, its form in `form`.

mod form;

use askama::Template;
use axum::{
    extract::{Request, State as Extracted},
    response::Response,
};
use resource::Words;

use super::{Movement, MovementEntry, MovementRecord, words::texts};
use crate::{
    accounts::Verb,
    catalogue::{named::Kind, products},
    page::{
        Form, Frame, PageState, Post,
        delete::Deletion,
        flash::{self, Flash},
        history,
        index::{self, Action, Address, Cell, Chip, Column, Empty, Filter, Index, Link, Row},
        picked_next,
        picker::{Picked, Source},
        posts,
        routes::{PageRouter, get},
        see_other,
    },
    rest::{
        Refusal,
        query::{Parameters, encode},
        resource::RecordId,
    },
};

type Answer = Result<Response, web::Error>;
type Page = Extracted<PageState>;

const FILTERS: &[&str] = &["product", "supplier", "date_from", "date_to"];

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

fn product_picker(frame: &Frame) -> Picked {
    let label = frame.text("Produto", "Product");
    Picked::empty("product", label, Source::Products)
}

fn supplier_picker(frame: &Frame) -> Picked {
    let label = frame.text("Fornecedor", "Supplier");
    Picked::empty("supplier", label, Source::Named(Kind::Supplier))
}

/// What the list is asked for: the parameters that the service reads, and the form that shows them.
struct Asked {
    parameters: Parameters,
    form: Form,
    records: Vec<Picked>,
}

impl Asked {
    async fn read(
        movement: Movement,
        page: &PageState,
        frame: &Frame,
        mut parameters: Parameters,
    ) -> Result<Self, Refusal> {
        let mut form = Form::new();
        for day in ["date_from", "date_to"] {
            form.set(day, parameters.get(day).unwrap_or_default());
        }
        let mut pickers = vec![product_picker(frame)];
        if movement == Movement::Inflow {
            pickers.push(supplier_picker(frame));
        }
        let mut records = Vec::new();
        for picked in pickers {
            let locale = frame.locale;
            records.push(
                posts::filter_record(&page.state, picked, &mut parameters, &mut form, locale)
                    .await?,
            );
        }
        Ok(Self {
            parameters,
            form,
            records,
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
    Ok(index.show_beside(&frame, receive.as_ref()))
}

/// The way to book a whole invoice, for those who may.
fn receive(movement: Movement, frame: &Frame) -> Option<Link> {
    let may = movement == Movement::Inflow && frame.may(Verb::Add, movement.model());
    may.then(|| Link {
        icon: "receipt",
        text: frame.text("Receber mercadoria", "Receive goods"),
        address: "/receiving/",
    })
}

fn empty_index(movement: Movement, frame: &Frame, asked: Asked) -> Index {
    let words = movement.words();
    let base = format!("/{}/", movement.path());
    let address = Address::new(base.as_str(), FILTERS, "-created_at", &asked.parameters);
    let may_add = frame.may(Verb::Add, movement.model());
    let chips = chips(frame, &address, &asked);
    let mut filters: Vec<Filter> = asked.records.into_iter().map(Filter::Record).collect();
    filters.push(Filter::Day(
        "date_from",
        frame.text("De (dia UTC)", "From (UTC day)"),
    ));
    filters.push(Filter::Day(
        "date_to",
        frame.text("Até (dia UTC)", "To (UTC day)"),
    ));
    Index {
        title: words.title(frame.locale),
        lead: String::new(),
        create: may_add.then(|| (words.new_one(frame.locale), format!("{base}new/"))),
        is_create_dialog: true,
        import: may_add.then(|| format!("/import/?resource={}", movement.path())),
        is_exported: true,
        note: String::new(),
        also: Vec::new(),
        filters,
        form: asked.form,
        chips,
        columns: columns(movement, frame),
        empty: Empty {
            icon: texts(movement).icon,
            sentence: words.none_yet(frame.locale),
        },
        address,
        rows: Vec::new(),
        count: 0,
        number: 1,
        size: 10,
    }
}

fn columns(movement: Movement, frame: &Frame) -> Vec<Column> {
    let mut columns = vec![
        Column::text(frame.text("Produto", "Product"), "product"),
        Column::number(frame.text("Quantidade", "Quantity"), "quantity"),
        Column::text(frame.text("Quando", "When"), "created_at"),
        Column::text(frame.text("Descrição", "Description"), "description").minor(),
    ];
    if movement == Movement::Inflow {
        let supplier = Column::text(frame.text("Fornecedor", "Supplier"), "supplier").minor();
        columns.insert(1, supplier);
    }
    columns
}

fn chips(frame: &Frame, address: &Address, asked: &Asked) -> Vec<Chip> {
    let mut chips = Vec::new();
    let mut chip = |name, text: String| {
        chips.push(Chip {
            text,
            address: address.with(&[(name, ""), ("page", "")]),
        });
    };
    for picked in asked.records.iter().filter(|picked| !picked.id.is_empty()) {
        chip(picked.name, format!("{}: {}", picked.label, picked.text));
    }
    for (name, text) in [
        ("date_from", frame.text("De", "From")),
        ("date_to", frame.text("Até", "To")),
    ] {
        if let Some(day) = asked.parameters.get(name) {
            chip(name, format!("{text} {}", day.trim()));
        }
    }
    chips
}

fn row(movement: Movement, frame: &Frame, record: &MovementRecord, may_delete: bool) -> Row {
    let locale = frame.locale;
    let sign = if movement == Movement::Inflow {
        "+"
    } else {
        "−"
    };
    let mut cells = vec![
        Cell::Link(address(movement, record.id), record.product.title.clone()),
        Cell::Number(format!("{sign}{}", locale.number(record.quantity))),
        Cell::Text(locale.date_time(record.created_at)),
        Cell::Text(record.description.clone().unwrap_or_default()),
    ];
    if let Some(supplier) = &record.supplier {
        cells.insert(1, Cell::Text(supplier.name.clone()));
    }
    let delete = Action {
        icon: "undo",
        text: format!(
            "{}: {}",
            frame.text("Excluir", "Delete"),
            record.product.title
        ),
        address: format!("{}delete/", address(movement, record.id)),
        is_dialog: false,
    };
    let correct = opposite(movement, frame, record).map(|address| Action {
        icon: "undo",
        text: format!(
            "{}: {}",
            frame.text(
                "Corrigir com o movimento contrário",
                "Correct with the opposite movement"
            ),
            record.product.title
        ),
        address,
        is_dialog: true,
    });
    let action = if may_delete { Some(delete) } else { correct };
    Row {
        cells,
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
    let mut columns = vec![
        "id",
        "product_title",
        "quantity",
        "description",
        "created_at",
    ];
    if movement == Movement::Inflow {
        columns.insert(1, "supplier_name");
    }
    let read = async move |conn: &mut db::Conn, sheet: &index::Sheet| {
        let put = |record: &MovementRecord| sheet.row(&exported(record));
        super::each(conn, movement, &parameters, put).await
    };
    let name = movement.path();
    let file = index::export(&page.state, &frame, name, &columns, read).await;
    Ok(index::or_back_to_list(file, request.uri())?)
}

fn exported(record: &MovementRecord) -> Vec<String> {
    let mut row = vec![
        record.id.to_string(),
        index::Cells::text(&record.product.title),
        record.quantity.to_string(),
        index::Cells::optional(record.description.as_deref()),
        history::machine_time(record.created_at),
    ];
    if let Some(supplier) = &record.supplier {
        row.insert(1, index::Cells::text(&supplier.name));
    }
    row
}

#[derive(Template)]
#[template(path = "stock/movement.html")]
struct DetailPage<'a> {
    frame: &'a Frame,
    words: &'a Words,
    record: &'a MovementRecord,
    booking: Option<MovementEntry>,
    may_delete: bool,
    /// Where it is corrected by whoever may not delete it.
    opposite: Option<String>,
    product: String,
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
        may_delete: frame.may(Verb::Delete, movement.model()),
        opposite: opposite(movement, &frame, &record),
        product: format!("/products/{}/", record.product.id),
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
    let foreseen = super::foresee(&page.state, movement, &record).await;
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
            let text = frame.text("Isto já foi desfeito.", "This has been undone already.");
            return Ok(flash::leave(see_other(&next), Flash::warning(text)));
        }
        found => found?,
    };
    match super::delete(&page.state, &frame.caller, movement, record.id).await {
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

/// Undoing is deleting: who may not delete is led to the opposite movement instead.
fn undo(movement: Movement, frame: &Frame, record: &MovementRecord, flash: Flash) -> Flash {
    if frame.may(Verb::Delete, movement.model()) {
        return flash.undo(format!("{}delete/", address(movement, record.id)));
    }
    match opposite(movement, frame, record) {
        Some(address) => flash.correct(address),
        None => flash,
    }
}

/// The form that books the opposite of a movement, filled in; none for those who may not.
fn opposite(movement: Movement, frame: &Frame, record: &MovementRecord) -> Option<String> {
    let other = movement.opposite();
    if !frame.may(Verb::Add, other.model()) {
        return None;
    }
    let of = match movement {
        Movement::Inflow => frame.text("Correção da entrada", "Correction of inflow"),
        Movement::Outflow => frame.text("Correção da saída", "Correction of outflow"),
    };
    let mut description = String::new();
    encode(&format!("{of} #{}", record.id), &mut description);
    Some(format!(
        "/{}/new/?product={}&quantity={}&description={description}",
        other.path(),
        record.product.id,
        record.quantity
    ))
}
