//! The pages of brands, categories and suppliers: one implementation for the three.

use askama::Template;
use axum::{
    extract::{Request, State as Extracted},
    response::Response,
};
use http::StatusCode;
use resource::{Field, Listed, Record as _, Value, Words, listed};
use serde_json::json;
use web::errors::wants_json;

use super::{Kind, NamedRecord};
use crate::{
    access::{Model, Verb},
    catalogue::{products, refuse_when_referenced},
    page::{
        Form, Frame, PageState, Post,
        delete::Deletion,
        edit_conflict::{self, Edit, FieldSnapshot},
        flash::{self, Flash},
        history::{self, Change},
        index::{self, Action, Address, Cell, Filter, Index, Row},
        part::Part,
        picked_next, posts, redirect,
        routes::{PageRouter, get},
        see_other,
    },
    rest::{
        Refusal,
        fields::{Draft, Mode},
        query::Parameters,
        resource::{RecordId, json as json_answer},
    },
    work,
};

type Answer = Result<Response, web::Error>;
type Page = Extracted<PageState>;

/// What a list is narrowed by.
pub(crate) const PARAMETERS: &[&str] = &["search"];
/// As much of a description stands in a list.
const SHORT: usize = 80;

/// The addresses of a kind's pages.
pub(crate) fn routes(kind: Kind) -> PageRouter {
    let base = format!("/{}/", kind.path());
    let below = |path: &str| format!("{base}{path}");
    PageRouter::new()
        .route(
            &base,
            get(async move |page: Page, frame: Frame, request: Request| {
                list(kind, page, frame, request).await
            }),
        )
        .route(
            &below("export/"),
            get(async move |page: Page, frame: Frame, request: Request| {
                export(kind, page, frame, request).await
            }),
        )
        .route(
            &below("new/"),
            get(async move |frame: Frame, request: Request| new(kind, &frame, &request)).post(
                async move |page: Page, frame: Frame, request: Request| {
                    create(kind, page, frame, request).await
                },
            ),
        )
        .route(
            &below("{id}/"),
            get(async move |page: Page, frame: Frame, id: RecordId| {
                detail(kind, page, frame, id).await
            }),
        )
        .route(
            &below("{id}/edit/"),
            get(async move |page: Page, frame: Frame, id: RecordId| {
                edit(kind, page, frame, id).await
            })
            .post(
                async move |page: Page, frame: Frame, id: RecordId, request: Request| {
                    update(kind, page, frame, id, request).await
                },
            ),
        )
        .route(
            &below("{id}/delete/"),
            get(async move |page: Page, frame: Frame, id: RecordId| {
                ask(kind, page, frame, id).await
            })
            .post(
                async move |page: Page, frame: Frame, id: RecordId, request: Request| {
                    delete(kind, page, frame, id, request).await
                },
            ),
        )
}

fn address(kind: Kind, id: i64) -> String {
    format!("/{}/{id}/", kind.path())
}

async fn list(kind: Kind, Extracted(page): Page, frame: Frame, request: Request) -> Answer {
    let model = kind.model();
    frame.require(Verb::View, model)?;
    let mut parameters = Parameters::of_address(request.uri());
    let mut form = Form::new();
    posts::filter_search(&mut parameters, &mut form, frame.locale);
    let found = super::list(&page.state, kind, &parameters).await?;
    // A scanned code is no record's name.
    if parameters.get("jump").is_some()
        && found.count == 0
        && let Some(address) = products::pages::jump(&page, &parameters).await?
    {
        return Ok(redirect(&address));
    }
    let may_change = frame.may(Verb::Change, model);
    let mut index = empty_index(kind, &frame, &parameters, form);
    index.fill(&found, |record| row(kind, &frame, record, may_change));
    Ok(index.show(&frame))
}

fn empty_index(kind: Kind, frame: &Frame, parameters: &Parameters, form: Form) -> Index {
    let about = kind.about();
    let path = format!("/{}/", kind.path());
    let address = Address::new(path, PARAMETERS, NamedRecord::name.name, parameters);
    let search = parameters.get("search").unwrap_or_default().trim();
    let chip = (!search.is_empty()).then(|| address.chip("search", format!("“{search}”")));
    Index {
        filters: vec![Filter::Search(about.words.search(frame.locale))],
        form,
        chips: chip.into_iter().collect(),
        ..Index::of(
            frame,
            &about.words,
            about.model,
            about.icon,
            address,
            &columns(),
        )
    }
}

/// The fields that the list shows.
fn columns() -> Vec<&'static Field> {
    listed(NamedRecord::FIELDS, Listed::Everywhere)
}

fn row(kind: Kind, frame: &Frame, record: &NamedRecord, may_change: bool) -> Row {
    let edit = Action {
        icon: "edit",
        text: format!("{} {}", frame.text("Editar", "Edit"), record.name),
        address: format!("{}edit/", address(kind, record.id)),
        is_dialog: true,
    };
    Row {
        cells: record
            .values_of(&columns())
            .into_iter()
            .map(|(field, value)| match value {
                Value::Text(name) if field.is_name => {
                    Cell::Link(address(kind, record.id), name.to_owned())
                }
                value => Cell::Text(shortened(&field.shown(value, frame.locale))),
            })
            .collect(),
        actions: if may_change { vec![edit] } else { Vec::new() },
    }
}

/// As much of a text as a list shows.
fn shortened(text: &str) -> String {
    let mut short: String = text.chars().take(SHORT).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

async fn export(kind: Kind, Extracted(page): Page, frame: Frame, request: Request) -> Answer {
    frame.require(Verb::View, kind.model())?;
    let mut parameters = Parameters::of_address(request.uri());
    let mut form = Form::new();
    posts::filter_search(&mut parameters, &mut form, frame.locale);
    if form.is_refused() {
        return Ok(index::back_to_list(request.uri()));
    }
    let columns = index::headings(&frame, NamedRecord::FIELDS);
    let read = async move |conn: &mut db::Conn, sheet: &index::Sheet| {
        for record in super::all(conn, kind, &parameters).await? {
            sheet.record(&record)?;
        }
        Ok(())
    };
    let file = index::export(&page.state, &frame, kind.path(), &columns, read).await;
    Ok(index::or_back_to_list(file, request.uri())?)
}

/// The form for a new record or a known one.
#[derive(Template)]
#[template(path = "catalogue/named_form.html")]
struct FormPage<'a> {
    frame: &'a Frame,
    form: &'a Form,
    title: &'a str,
    described: Vec<&'static Field>,
    /// Where it goes on afterwards.
    next: &'a str,
}

/// The fields that a form writes.
fn written() -> Vec<&'static Field> {
    let fields = NamedRecord::FIELDS.iter().copied();
    fields.filter(|field| !field.is_read_only).collect()
}

fn new(kind: Kind, frame: &Frame, request: &Request) -> Answer {
    frame.require(Verb::Add, kind.model())?;
    let query = Parameters::parse(request.uri().query().unwrap_or_default());
    let name = NamedRecord::name.name;
    let form = Form::new().with(name, query.get(name).unwrap_or_default());
    Ok(frame.show(FormPage {
        frame,
        form: &form,
        title: &kind.about().words.new_one(frame.locale),
        described: written(),
        next: query.get("next").unwrap_or_default(),
    }))
}

async fn create(kind: Kind, Extracted(page): Page, frame: Frame, request: Request) -> Answer {
    frame.require(Verb::Add, kind.model())?;
    let (parts, body) = request.into_parts();
    let mut post = Post::read(&page.state, &parts, body).await?;
    post.read_fields(&written(), frame.locale);
    let (words, locale) = (&kind.about().words, frame.locale);
    let key = post.idempotency_key(&frame, kind.path());
    let draft = Draft::read(&post.members, Mode::Whole);
    let created = work::create_of_form(&page.state, &frame.caller, kind, draft, key).await;
    match created.and_then(|record| record.ok_or(Refusal::NotFound)) {
        // The script that adds one from within another form goes on there.
        Ok(record) if wants_json(&parts.headers) => Ok(json_answer(
            StatusCode::CREATED,
            &json!({"id": record.id, "text": record.name}),
        )),
        Ok(record) => {
            let next = picked_next(&post.text("next"), kind.name(), record.id);
            let next = next.unwrap_or_else(|| address(kind, record.id));
            Ok(done(
                &next,
                &words.done(locale, "criad", "added"),
                &record.name,
            ))
        }
        Err(refusal) => again(&frame, post, &words.new_one(locale), refusal),
    }
}

fn done(next: &str, said: &str, name: &str) -> Response {
    let text = format!("{said}: {name}.");
    flash::leave(see_other(next), Flash::success(text))
}

fn again(frame: &Frame, post: Post, title: &str, refusal: Refusal) -> Answer {
    let next = post.text("next");
    let mut form = post.form;
    form.take(refusal, frame.locale)?;
    Ok(frame.show_again(FormPage {
        frame,
        form: &form,
        title,
        described: written(),
        next: &next,
    }))
}

#[derive(Template)]
#[template(path = "catalogue/named.html")]
struct DetailPage<'a> {
    frame: &'a Frame,
    record: &'a NamedRecord,
    words: &'a Words,
    /// What is known of it beside its name: what it is called, and the value.
    facts: Vec<(&'static str, String)>,
    /// What refers to it: what the link says, and where it leads.
    referring: Option<(String, String)>,
    changes: Part<Vec<Change>>,
    may_change: bool,
    may_delete: bool,
    /// Where its products are counted, for those who may adjust them.
    count: Option<String>,
}

async fn find(
    kind: Kind,
    page: &PageState,
    RecordId(id): RecordId,
) -> Result<NamedRecord, Refusal> {
    let id = id.ok_or(Refusal::NotFound)?;
    super::read(&page.state, kind, id)
        .await?
        .ok_or(Refusal::NotFound)
}

async fn detail(kind: Kind, Extracted(page): Page, frame: Frame, id: RecordId) -> Answer {
    let model = kind.model();
    frame.require(Verb::View, model)?;
    let record = find(kind, &page, id).await?;
    let changes = history::changes(&page.state, model, record.id, frame.locale).await?;
    let values = record.values().into_iter();
    let values = values.filter(|(field, _)| !field.is_name);
    Ok(frame.show(DetailPage {
        frame: &frame,
        words: &kind.about().words,
        facts: values
            .map(|(field, value)| (frame.say(field.label), field.shown(value, frame.locale)))
            .collect(),
        referring: referring(kind, &frame, record.id),
        record: &record,
        changes,
        may_change: frame.may(Verb::Change, model),
        may_delete: frame.may(Verb::Delete, model),
        count: frame
            .may(Verb::Change, Model::Product)
            .then(|| format!("/counts/new/?{}={}", kind.name(), record.id)),
    }))
}

/// The list of what refers to a record.
fn referring(kind: Kind, frame: &Frame, id: i64) -> Option<(String, String)> {
    let (words, name) = (&kind.about().words, kind.name());
    let referrer = kind.about().referrer.as_ref()?;
    Some((
        referrer.words.of_this(words, frame.locale),
        format!("/{}/?{name}={id}", referrer.path),
    ))
}

async fn edit(kind: Kind, Extracted(page): Page, frame: Frame, id: RecordId) -> Answer {
    frame.require(Verb::Change, kind.model())?;
    let record = find(kind, &page, id).await?;
    let mut form = Form::new();
    edit_conflict::open(&mut form, &snapshots(&record), frame.locale);
    Ok(frame.show(FormPage {
        frame: &frame,
        form: &form,
        title: &kind.about().words.edit(frame.locale),
        described: written(),
        next: "",
    }))
}

/// The fields of the form as they are stored.
fn snapshots(record: &NamedRecord) -> Vec<FieldSnapshot> {
    FieldSnapshot::all(record, &written())
}

async fn update(
    kind: Kind,
    Extracted(page): Page,
    frame: Frame,
    id: RecordId,
    request: Request,
) -> Answer {
    frame.require(Verb::Change, kind.model())?;
    let id = find(kind, &page, id).await?.id;
    let (parts, body) = request.into_parts();
    let mut post = Post::read(&page.state, &parts, body).await?;
    post.read_fields(&written(), frame.locale);
    let (words, locale) = (&kind.about().words, frame.locale);
    let edit = Edit::of(&post.form, &post.members, written());
    let mut members = post.members.clone();
    for unchanged in edit.unchanged() {
        members.remove(unchanged);
    }
    let compared = edit.clone();
    let refused = move |record: &NamedRecord| compared.conflicts(&snapshots(record), locale);
    match super::edit(&page.state, &frame.caller, (kind, id), members, refused).await {
        Ok(Some(record)) => Ok(done(
            &frame.back(&post.text("next")),
            &words.done(locale, "alterad", "changed"),
            &record.name,
        )),
        Ok(None) => Err(Refusal::NotFound.into()),
        Err(refusal) => {
            let record = find(kind, &page, RecordId(Some(id))).await?;
            edit.refresh(&mut post.form, &snapshots(&record), locale);
            again(&frame, post, &words.edit(locale), refusal)
        }
    }
}

fn deletion(kind: Kind, frame: &Frame, record: &NamedRecord, next: String) -> Deletion {
    let words = &kind.about().words;
    Deletion {
        title: words.ask_to_delete(frame.locale),
        name: record.name.clone(),
        sentence: frame.text(
            "Isto não pode ser desfeito. O histórico de alterações fica guardado.",
            "This cannot be undone. The history of changes is kept.",
        ),
        confirm: words.confirm_to_delete(frame.locale),
        back: address(kind, record.id),
        next,
        blocking: referring(kind, frame, record.id),
        problem: String::new(),
    }
}

async fn ask(kind: Kind, Extracted(page): Page, frame: Frame, id: RecordId) -> Answer {
    frame.require(Verb::Delete, kind.model())?;
    let record = find(kind, &page, id).await?;
    let referring = super::references_to(&page.state, kind, record.id).await?;
    let foreseen = refuse_when_referenced(&kind.about().words, &referring);
    Ok(deletion(kind, &frame, &record, String::new()).ask(&frame, foreseen)?)
}

async fn delete(
    kind: Kind,
    Extracted(page): Page,
    frame: Frame,
    id: RecordId,
    request: Request,
) -> Answer {
    frame.require(Verb::Delete, kind.model())?;
    let record = find(kind, &page, id).await?;
    let (parts, body) = request.into_parts();
    let post = Post::read(&page.state, &parts, body).await?;
    match work::delete(&page.state, &frame.caller, kind, record.id).await {
        Ok(_) => {
            let next = format!("/{}/", kind.path());
            let words = &kind.about().words;
            let said = words.done(frame.locale, "excluíd", "deleted");
            Ok(done(&next, &said, &record.name))
        }
        Err(refusal) => {
            Ok(deletion(kind, &frame, &record, post.text("next")).refuse(&frame, refusal)?)
        }
    }
}
