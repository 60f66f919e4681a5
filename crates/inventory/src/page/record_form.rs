//! The form of a new or existing record: one set of handlers and one template for all resources. A
//! resource adds its specifics in [`RecordForms`].

use askama::Template;
use axum::response::Response;
use db::Tx;
use http::{Method, StatusCode};
use resource::{Both, Field};
use serde_json::json;

use super::{
    Form, FormSubmission, Frame, PageResult,
    edit_conflict::{self, FieldSnapshot, FormEdit},
    flash, picked_next,
    picker::Picker,
    records::{address, find, id_of, name_of},
    routes::{PageRouter, get, of, of_one},
    see_other,
};
use crate::{
    State,
    access::Verb,
    api::{
        answer::json as json_answer,
        resource::{ApiResource, Resource},
        writes,
    },
    idempotency::IdempotencyKey,
    rest::{
        RecordId, Refusal,
        fields::{Draft, FieldErrors, Members, Mode, problems},
        query::Parameters,
    },
    work::{self, Work},
};

/// The differences in how forms look.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FormLooks {
    pub(crate) submit: Both,
    /// The icon of the button; empty for none.
    pub(crate) icon: &'static str,
    /// Whether long texts have one line, and pickers the full width.
    pub(crate) is_brief: bool,
    /// Whether a second button saves and opens another empty form.
    pub(crate) adds_another: bool,
}

impl FormLooks {
    /// The default.
    pub(crate) const PLAIN: Self = Self {
        submit: ("Salvar", "Save"),
        icon: "",
        is_brief: false,
        adds_another: false,
    };
}

/// A resource with a form for its records.
pub(crate) trait RecordForms: Resource {
    fn looks(self) -> FormLooks {
        FormLooks::PLAIN
    }

    /// The fields of the form, in order.
    fn written(self) -> Vec<&'static Field> {
        let fields = self.fields().iter().copied();
        fields.filter(|field| !field.is_read_only).collect()
    }

    /// The default of a field in the form of a new record.
    fn initial(self, _field: &Field) -> &'static str {
        ""
    }

    fn hint(self, frame: &Frame, field: &Field, _is_new: bool) -> String {
        frame.say(field.help).to_owned()
    }

    /// The values to choose from in a field of several values, with their labels.
    fn options(self, _frame: &Frame, _field: &Field) -> Vec<(&'static str, &'static str)> {
        Vec::new()
    }

    /// The title of the form of an existing record.
    fn edit_title(self, frame: &Frame, _record: &Self::Record) -> String {
        self.model().words().edit(frame.locale)
    }

    /// The errors that can be found without the database.
    fn problems(self, members: &Members) -> FieldErrors {
        problems(self.written(), members, Mode::Whole)
    }

    /// The errors that need the database. Looked up only for a form that is refused; `own` is the
    /// id of the edited record.
    fn stored_problems(
        self,
        _state: &State,
        _own: Option<i64>,
        _members: &Members,
    ) -> impl Future<Output = Result<FieldErrors, Refusal>> + Send {
        std::future::ready(Ok(FieldErrors::default()))
    }

    /// Creates the record. If the form is sent again, returns the record that it created the first
    /// time, or `None` if that has been deleted.
    fn create(
        self,
        frame: &Frame,
        members: &Members,
        key: Option<IdempotencyKey>,
    ) -> impl Future<Output = Result<Option<Self::Record>, Refusal>> + Send;

    /// Responds after a record was created. `record` is `None` if it has been deleted since.
    fn created(
        self,
        frame: &Frame,
        record: Option<Self::Record>,
        sent: &RecordForm,
    ) -> impl Future<Output = Result<Response, Refusal>> + Send {
        std::future::ready(created(self, frame, record, sent))
    }

    /// The stored values of the form's fields.
    fn snapshots(
        self,
        _state: &State,
        record: &Self::Record,
    ) -> impl Future<Output = Result<Vec<FieldSnapshot>, Refusal>> + Send {
        std::future::ready(Ok(FieldSnapshot::all(record, &self.written())))
    }

    /// Locks a record until the transaction ends and returns its stored fields. `None` if it does
    /// not exist.
    fn lock(
        self,
        _tx: &mut Tx,
        _id: i64,
    ) -> impl Future<Output = Result<Option<Vec<FieldSnapshot>>, Refusal>> {
        std::future::ready(Err(Refusal::forbidden()))
    }

    /// Writes the submitted fields of a record; `None` if it does not exist.
    fn write(
        self,
        _work: &mut Work<'_>,
        _id: i64,
        _members: &Members,
    ) -> impl Future<Output = Result<Option<Self::Record>, Refusal>> {
        std::future::ready(Err(Refusal::forbidden()))
    }
}

/// `/{path}/new/`, and `/{path}/{id}/edit/` if records can be changed.
pub(crate) fn routes<R: RecordForms>(resource: R) -> PageRouter {
    let base = format!("/{}/", resource.path());
    let routes = PageRouter::new().route(
        &format!("{base}new/"),
        get(of(resource, new)).post(of(resource, create)),
    );
    if !resource.methods().contains(&Method::PUT) {
        return routes;
    }
    routes.route(
        &format!("{base}{{id}}/edit/"),
        get(of_one(resource, edit)).post(of_one(resource, update)),
    )
}

/// Creates a record as the API does, for [`RecordForms::create`].
pub(crate) async fn create_by_api<R: ApiResource>(
    resource: R,
    frame: &Frame,
    members: &Members,
    key: Option<IdempotencyKey>,
) -> Result<Option<R::Record>, Refusal> {
    let draft = Draft::read_fields(resource.fields(), members, Mode::Whole);
    writes::create_of_form(&frame.state, &frame.caller, resource, draft, key).await
}

/// A form that is opened or submitted.
pub(crate) struct RecordForm {
    pub(crate) form: Form,
    /// The members for the service functions. Empty if the form is only opened.
    pub(crate) members: Members,
    picked: Vec<Picker>,
    key: Option<IdempotencyKey>,
}

#[derive(Template)]
#[template(path = "page/record_form.html")]
struct RecordFormPage<'a> {
    frame: &'a Frame,
    form: &'a Form,
    title: String,
    looks: FormLooks,
    is_new: bool,
    fields: Vec<FormField<'a>>,
}

/// A field of the form.
struct FormField<'a> {
    field: &'static Field,
    hint: String,
    /// The control of a reference.
    picker: Option<&'a Picker>,
    /// The checkboxes of a field of several values: value, label, and whether it is ticked.
    options: Vec<(&'static str, &'static str, bool)>,
}

impl RecordForm {
    /// Opens a form with these values. The query string may choose records in its pickers.
    async fn open<R: RecordForms>(
        resource: R,
        frame: &Frame,
        mut form: Form,
        parameters: &Parameters,
    ) -> Result<Self, Refusal> {
        let mut picked = Vec::new();
        for picker in pickers(resource, frame) {
            let id = parameters.get(picker.name);
            let id = id.unwrap_or_else(|| form.value(picker.name)).to_owned();
            picked.push(picker.choose_known(&frame.state, Some(&id)).await?);
        }
        form.set("next", parameters.get("next").unwrap_or_default());
        Ok(Self {
            form,
            members: Members::new(),
            picked,
            key: None,
        })
    }

    async fn read<R: RecordForms>(
        resource: R,
        frame: &Frame,
        mut post: FormSubmission,
    ) -> Result<Self, Refusal> {
        post.read_fields(&resource.written(), frame.locale);
        let mut picked = Vec::new();
        for picker in pickers(resource, frame) {
            picked.push(post.pick(frame, picker).await?);
        }
        Ok(Self {
            key: post.idempotency_key(frame, resource.path()),
            form: post.form,
            members: post.members,
            picked,
        })
    }

    /// The page of the form. `record` is the edited record.
    fn page<'a, R: RecordForms>(
        &'a self,
        resource: R,
        frame: &'a Frame,
        record: Option<&R::Record>,
    ) -> RecordFormPage<'a> {
        let is_new = record.is_none();
        let fields = resource.written().into_iter().map(|field| {
            let ticked: Vec<_> = self.form.value(field.name).split(',').collect();
            let options = resource.options(frame, field).into_iter();
            FormField {
                field,
                hint: resource.hint(frame, field, is_new),
                picker: self.picked.iter().find(|picked| picked.name == field.name),
                options: options
                    .map(|(value, text)| (value, text, ticked.contains(&value)))
                    .collect(),
            }
        });
        RecordFormPage {
            frame,
            form: &self.form,
            title: match record {
                Some(record) => resource.edit_title(frame, record),
                None => resource.model().words().new_one(frame.locale),
            },
            looks: resource.looks(),
            is_new,
            fields: fields.collect(),
        }
    }

    /// Updates the form with the stored record. A picker without a valid choice keeps its text.
    async fn refresh(
        &mut self,
        frame: &Frame,
        edit: &FormEdit,
        stored: &[FieldSnapshot],
    ) -> Result<(), Refusal> {
        for picked in &self.picked {
            self.form.set(picked.name, picked.id.as_str());
        }
        edit.refresh(&mut self.form, stored, frame.locale);
        for picked in &mut self.picked {
            let id = self.form.value(picked.name);
            if *id != picked.id {
                *picked = picked.clone().choose(&frame.state, id).await?;
            }
        }
        Ok(())
    }

    /// Shows the form again with all its errors.
    async fn again<R: RecordForms>(
        mut self,
        resource: R,
        frame: &Frame,
        record: Option<&R::Record>,
    ) -> PageResult {
        let own = record.map(id_of);
        let errors = resource.stored_problems(&frame.state, own, &self.members);
        let errors = errors.await?;
        self.form.absorb(&errors, frame.locale);
        let fields = resource.written().into_iter();
        self.form
            .sort(&fields.map(|field| field.name).collect::<Vec<_>>());
        Ok(frame.show_again(self.page(resource, frame, record)))
    }
}

/// The pickers of the record's references.
fn pickers<R: RecordForms>(
    resource: R,
    frame: &Frame,
) -> impl Iterator<Item = Picker> + use<'_, R> {
    let fields = resource.written().into_iter();
    fields.filter_map(|field| Picker::of(frame.locale, field))
}

async fn new<R: RecordForms>(resource: R, frame: Frame, parameters: Parameters) -> PageResult {
    frame.require(Verb::Add, resource.model())?;
    let mut form = Form::new();
    for field in resource.written() {
        let value = parameters.get(field.name);
        form.set(field.name, value.unwrap_or_else(|| resource.initial(field)));
    }
    let opened = RecordForm::open(resource, &frame, form, &parameters).await?;
    Ok(frame.show(opened.page(resource, &frame, None)))
}

async fn create<R: RecordForms>(resource: R, frame: Frame, post: FormSubmission) -> PageResult {
    frame.require(Verb::Add, resource.model())?;
    let (locale, is_script) = (frame.locale, post.is_script);
    let mut sent = RecordForm::read(resource, &frame, post).await?;
    sent.form.absorb(&resource.problems(&sent.members), locale);
    if !sent.form.is_refused() {
        let key = sent.key.take();
        match resource.create(&frame, &sent.members, key).await {
            // A script that adds a record from within another form needs its id and name.
            Ok(Some(record)) if is_script => {
                let body = json!({"id": id_of(&record), "text": name_of(&record)});
                return Ok(json_answer(StatusCode::CREATED, &body));
            }
            Ok(record) => return resource.created(&frame, record, &sent).await,
            Err(refusal) => sent.form.take(refusal, locale)?,
        }
    }
    sent.again(resource, &frame, None).await
}

/// Redirects after a record was created: to the page that needed it, to another empty form, or to
/// the record's page.
pub(crate) fn created<R: RecordForms>(
    resource: R,
    frame: &Frame,
    record: Option<R::Record>,
    sent: &RecordForm,
) -> Result<Response, Refusal> {
    let record = record.ok_or(Refusal::NotFound)?;
    let next = if sent.form.value("again").is_empty() {
        let (id, name) = (id_of(&record), resource.model().code());
        let next = picked_next(sent.form.value("next"), name, id);
        next.unwrap_or_else(|| address(resource, id))
    } else {
        format!("/{}/new/", resource.path())
    };
    let words = resource.model().words();
    let message = words.done(frame.locale, "criad", "added");
    Ok(done(&next, &message, &name_of(&record)))
}

fn done(next: &str, message: &str, name: &str) -> Response {
    flash::success(
        see_other(next),
        format!("{message}: {}.", flash::named(name)),
    )
}

async fn edit<R: RecordForms>(
    resource: R,
    frame: Frame,
    id: RecordId,
    parameters: Parameters,
) -> PageResult {
    frame.require(Verb::Change, resource.model())?;
    let state = &frame.state;
    let record = find(resource, state, id).await?;
    let stored = resource.snapshots(state, &record).await?;
    let mut form = Form::new();
    edit_conflict::open(&mut form, &stored, frame.locale);
    let opened = RecordForm::open(resource, &frame, form, &parameters).await?;
    Ok(frame.show(opened.page(resource, &frame, Some(&record))))
}

async fn update<R: RecordForms>(
    resource: R,
    frame: Frame,
    id: RecordId,
    post: FormSubmission,
) -> PageResult {
    frame.require(Verb::Change, resource.model())?;
    let (state, locale) = (&frame.state, frame.locale);
    let id = id_of(&find(resource, state, id).await?);
    let mut sent = RecordForm::read(resource, &frame, post).await?;
    let edit = FormEdit::of(&sent.form, &sent.members, resource.written());
    let unchanged: Vec<_> = edit.unchanged().collect();
    let problems = resource.problems(&sent.members);
    let problems = problems.without(|field| unchanged.contains(&field));
    sent.form.absorb(&problems, locale);
    if !sent.form.is_refused() {
        let mut members = sent.members.clone();
        members.retain(|name, _| !unchanged.contains(&name.as_str()));
        let compared = edit.clone();
        let job = async move |work: &mut Work<'_>| {
            let Some(stored) = resource.lock(work.tx, id).await? else {
                return Ok(None);
            };
            compared.conflicts(&stored).into_result()?;
            resource.write(work, id, &members).await
        };
        match work::write(state, &frame.caller, job).await {
            Ok(Some(record)) => {
                let next = frame.back(sent.form.value("next"));
                let words = resource.model().words();
                let message = words.done(locale, "alterad", "changed");
                return Ok(done(&next, &message, &name_of(&record)));
            }
            Ok(None) => return Err(Refusal::NotFound),
            Err(refusal) => sent.form.take(refusal, locale)?,
        }
    }
    let record = find(resource, state, RecordId(Some(id))).await?;
    let stored = resource.snapshots(state, &record).await?;
    sent.refresh(&frame, &edit, &stored).await?;
    sent.again(resource, &frame, Some(&record)).await
}
