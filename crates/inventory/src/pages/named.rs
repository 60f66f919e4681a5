//! The pages of brands, categories and suppliers: one implementation for the three.

use askama::Template;
use axum::{
    extract::{Request, State as Extracted},
    response::Response,
};
use db::Conn;
use http::StatusCode;
use resource::{Field, Record as _, Words};
use serde_json::json;
use web::{errors::wants_json, locale::Locale};

use crate::{
    State,
    access::{Model, Verb},
    api::{resource::json as json_answer, writes},
    catalogue::{
        named::{Kind, NamedRecord},
        refuse_when_referenced,
    },
    page::{
        Form, Frame, PageState, Post,
        delete::Deletion,
        edit_conflict::{self, FieldSnapshot, FormEdit},
        flash::{self, Flash},
        history::{self, ChangeView},
        index::{Action, Index, ListFilters, Row},
        part::Part,
        picked_next,
        records::{self, Answer, ResourcePages, Shared, address, find},
        routes::{PageRouter, get},
        see_other,
    },
    rest::{
        RecordId, Refusal,
        fields::{Draft, Mode},
        query::Parameters,
    },
};

/// The addresses of a kind's pages.
pub(crate) fn routes(kind: Kind) -> PageRouter {
    let below = |path: &str| format!("/{}/{path}", kind.path());
    records::routes(kind)
        .route(
            &below("new/"),
            get(async move |frame: Frame, request: Request| new(kind, &frame, &request)).post(
                async move |page: Shared, frame: Frame, request: Request| {
                    create(kind, page, frame, request).await
                },
            ),
        )
        .route(
            &below("{id}/"),
            get(async move |page: Shared, frame: Frame, id: RecordId| {
                detail(kind, page, frame, id).await
            }),
        )
        .route(
            &below("{id}/edit/"),
            get(async move |page: Shared, frame: Frame, id: RecordId| {
                edit(kind, page, frame, id).await
            })
            .post(
                async move |page: Shared, frame: Frame, id: RecordId, request: Request| {
                    update(kind, page, frame, id, request).await
                },
            ),
        )
}

impl ResourcePages for Kind {
    const ORDERING: &'static str = NamedRecord::name.name;

    type File = Parameters;

    fn words(self) -> &'static Words {
        &self.about().words
    }

    fn icon(self) -> &'static str {
        self.about().icon
    }

    fn filters(self, locale: Locale) -> ListFilters {
        ListFilters {
            search: Some(self.about().words.search(locale)),
            ..ListFilters::default()
        }
    }

    async fn jump(
        self,
        page: &PageState,
        parameters: &Parameters,
    ) -> Result<Option<String>, Refusal> {
        // A scanned code is no record's name.
        let named = crate::catalogue::named::part(&page.state, self, parameters, 1, 0).await?;
        if named.is_empty() {
            super::products::jump(page, parameters).await
        } else {
            Ok(None)
        }
    }

    async fn rows(
        self,
        _state: &State,
        frame: &Frame,
        _index: &Index,
        records: &[NamedRecord],
    ) -> Result<Vec<Row>, Refusal> {
        let may_change = frame.may(Verb::Change, self.model());
        let columns = self.columns();
        let row = |record: &NamedRecord| {
            let address = address(self, record.id);
            let edit = Action {
                icon: "edit",
                text: format!("{} {}", frame.text("Editar", "Edit"), record.name),
                address: format!("{address}edit/"),
                is_dialog: true,
            };
            let actions = may_change.then_some(edit).into_iter().collect();
            Row::of(frame, record, &columns, &address, actions)
        };
        Ok(records.iter().map(row).collect())
    }

    async fn file(self, _state: &State, parameters: Parameters) -> Result<Parameters, Refusal> {
        Ok(parameters)
    }

    async fn each(
        self,
        conn: &mut Conn,
        _state: &State,
        parameters: &Parameters,
        take: impl FnMut(&NamedRecord) -> Result<(), db::Error>,
    ) -> Result<(), Refusal> {
        let records = crate::catalogue::named::all(conn, self, parameters).await?;
        Ok(records.iter().try_for_each(take)?)
    }

    async fn deletion(
        self,
        state: &State,
        frame: &Frame,
        record: &NamedRecord,
    ) -> Result<(Deletion, Result<(), Refusal>), Refusal> {
        let sentence = frame.text(
            "Isto não pode ser desfeito. O histórico de alterações fica guardado.",
            "This cannot be undone. The history of changes is kept.",
        );
        let (words, back) = (self.words(), address(self, record.id));
        let deletion = Deletion::of(words, record.name.clone(), sentence, back, frame.locale);
        let referring = crate::catalogue::named::references_to(state, self, record.id).await?;
        let deletion = Deletion {
            blocking: self::referring(self, frame, record.id),
            ..deletion
        };
        Ok((deletion, refuse_when_referenced(words, &referring)))
    }
}

/// The form for a new record or a known one.
#[derive(Template)]
#[template(path = "catalogue/named_form.html")]
struct NamedFormPage<'a> {
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
    Ok(frame.show(NamedFormPage {
        frame,
        form: &form,
        title: &kind.about().words.new_one(frame.locale),
        described: written(),
        next: query.get("next").unwrap_or_default(),
    }))
}

async fn create(kind: Kind, Extracted(page): Shared, frame: Frame, request: Request) -> Answer {
    frame.require(Verb::Add, kind.model())?;
    let (parts, body) = request.into_parts();
    let mut post = Post::read(&page.state, &parts, body).await?;
    post.read_fields(&written(), frame.locale);
    let (words, locale) = (&kind.about().words, frame.locale);
    let key = post.idempotency_key(&frame, kind.path());
    let draft = Draft::read(&post.members, Mode::Whole);
    let created = writes::create_of_form(&page.state, &frame.caller, kind, draft, key).await;
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
    Ok(frame.show_again(NamedFormPage {
        frame,
        form: &form,
        title,
        described: written(),
        next: &next,
    }))
}

#[derive(Template)]
#[template(path = "catalogue/named.html")]
struct NamedPage<'a> {
    frame: &'a Frame,
    record: &'a NamedRecord,
    words: &'a Words,
    /// What is known of it beside its name: what it is called, and the value.
    facts: Vec<(&'static str, String)>,
    /// What refers to it: what the link says, and where it leads.
    referring: Option<(String, String)>,
    changes: Part<Vec<ChangeView>>,
    may_change: bool,
    may_delete: bool,
    /// Where its products are counted, for those who may adjust them.
    count: Option<String>,
}

async fn detail(kind: Kind, Extracted(page): Shared, frame: Frame, id: RecordId) -> Answer {
    let model = kind.model();
    frame.require(Verb::View, model)?;
    let record = find(kind, &page.state, id).await?;
    let changes = history::changes(&page.state, model, record.id, frame.locale).await?;
    let values = record.values().into_iter();
    let values = values.filter(|(field, _)| !field.is_name);
    Ok(frame.show(NamedPage {
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

async fn edit(kind: Kind, Extracted(page): Shared, frame: Frame, id: RecordId) -> Answer {
    frame.require(Verb::Change, kind.model())?;
    let record = find(kind, &page.state, id).await?;
    let mut form = Form::new();
    edit_conflict::open(&mut form, &snapshots(&record), frame.locale);
    Ok(frame.show(NamedFormPage {
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
    Extracted(page): Shared,
    frame: Frame,
    id: RecordId,
    request: Request,
) -> Answer {
    frame.require(Verb::Change, kind.model())?;
    let id = find(kind, &page.state, id).await?.id;
    let (parts, body) = request.into_parts();
    let mut post = Post::read(&page.state, &parts, body).await?;
    post.read_fields(&written(), frame.locale);
    let (words, locale) = (&kind.about().words, frame.locale);
    let edit = FormEdit::of(&post.form, &post.members, written());
    let mut members = post.members.clone();
    for unchanged in edit.unchanged() {
        members.remove(unchanged);
    }
    let compared = edit.clone();
    let refused = move |record: &NamedRecord| compared.conflicts(&snapshots(record), locale);
    match crate::catalogue::named::edit(&page.state, &frame.caller, (kind, id), members, refused)
        .await
    {
        Ok(Some(record)) => Ok(done(
            &frame.back(&post.text("next")),
            &words.done(locale, "alterad", "changed"),
            &record.name,
        )),
        Ok(None) => Err(Refusal::NotFound.into()),
        Err(refusal) => {
            let record = find(kind, &page.state, RecordId(Some(id))).await?;
            edit.refresh(&mut post.form, &snapshots(&record), locale);
            again(&frame, post, &words.edit(locale), refusal)
        }
    }
}
