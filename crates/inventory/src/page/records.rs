//! The generic pages of a resource: its list, the export of the list, and the deletion of a record.
//! A resource adds its specifics in [`ResourcePages`].

use axum::response::Response;
use db::Conn;
use http::Uri;
use resource::{Field, Kind, ListedIn, Record, Value, listed};
use web::locale::Locale;

use super::{
    FormSubmission, Frame, PageResult,
    confirmation::Confirmation,
    flash,
    list_page::{self, Column, Empty, ExportFile, Filter, ListPage, ListRequest, Row},
    own_next, redirect,
    routes::{PageRouter, get, of, of_one},
    see_other,
};
use crate::{
    State,
    access::Verb,
    api::{
        resource::{ApiResource, Resource},
        writes,
    },
    rest::{RecordId, Refusal, page::Page, query::Parameters},
};

/// A resource with generic pages.
pub(crate) trait ResourcePages: ApiResource {
    /// The default order of the list.
    const ORDERING: &'static str;

    /// The data that an export needs before it reads the records.
    type File: Send + Sync + 'static;

    /// The icon in `icons.svg`.
    fn icon(self) -> &'static str;

    fn filters(self, locale: Locale) -> Vec<Filter>;

    fn columns(self) -> Vec<&'static Field> {
        listed(self.fields(), ListedIn::Everywhere)
    }

    /// Adds the specifics of the resource to the list.
    fn adorn(self, _frame: &Frame, list: ListPage) -> ListPage {
        list
    }

    /// The address to redirect to if the search is a scanned code.
    fn jump(
        self,
        _frame: &Frame,
        _parameters: &Parameters,
    ) -> impl Future<Output = Result<Option<String>, Refusal>> + Send {
        std::future::ready(Ok(None))
    }

    /// The records of the list. May add a note and links to the list if it shows other records than
    /// those asked for.
    fn find(
        self,
        frame: &Frame,
        _list: &mut ListPage,
        parameters: &Parameters,
    ) -> impl Future<Output = Result<Page<Self::Record>, Refusal>> + Send {
        self.list(&frame.state, parameters)
    }

    fn rows(
        self,
        frame: &Frame,
        list: &ListPage,
        records: &[Self::Record],
    ) -> impl Future<Output = Result<Vec<Row>, Refusal>> + Send;

    /// Prepares an export of the records that the parameters select.
    fn file(
        self,
        state: &State,
        parameters: Parameters,
    ) -> impl Future<Output = Result<Self::File, Refusal>> + Send;

    /// Calls `take` for every record of an export, in the list's order.
    fn each(
        self,
        conn: &mut Conn,
        state: &State,
        file: &Self::File,
        take: impl FnMut(&Self::Record) -> Result<(), db::Error>,
    ) -> impl Future<Output = Result<(), Refusal>>;

    /// The confirmation page of a deletion, or why it is refused if that is known in advance.
    fn deletion(
        self,
        frame: &Frame,
        record: &Self::Record,
    ) -> impl Future<Output = Result<Confirmation, Refusal>> + Send;

    /// The message after a deletion.
    fn deleted(
        self,
        frame: &Frame,
        record: &Self::Record,
    ) -> impl Future<Output = Result<String, Refusal>> + Send {
        let done = self
            .model()
            .words()
            .done(frame.locale, "excluíd", "deleted");
        std::future::ready(Ok(format!("{done}: {}.", name_of(record))))
    }

    /// The message if the record is already deleted. `None` if that is an error.
    fn deleted_before(self, _frame: &Frame) -> Option<&'static str> {
        None
    }
}

/// `/{path}/`, `/{path}/export/` and `/{path}/{id}/delete/`.
pub(crate) fn routes<R: ResourcePages>(resource: R) -> PageRouter {
    let base = format!("/{}/", resource.path());
    PageRouter::new()
        .route(&base, get(of(resource, list)))
        .route(&format!("{base}export/"), get(of(resource, export)))
        .route(
            &format!("{base}{{id}}/delete/"),
            get(of(resource, ask_to_delete)).post(of_one(resource, delete)),
        )
}

/// The address of a record's page.
pub(crate) fn address(resource: impl Resource, id: i64) -> String {
    format!("/{}/{id}/", resource.path())
}

/// The id of a record.
pub(crate) fn id_of(record: &impl Record) -> i64 {
    let mut values = record.values().into_iter();
    let id = values.find_map(|(field, value)| match value {
        Value::Integer(id) if field.kind == Kind::Id => Some(id),
        _ => None,
    });
    id.unwrap_or_default()
}

/// The name of a record.
pub(crate) fn name_of(record: &impl Record) -> String {
    let mut values = record.values().into_iter();
    let name = values.find(|(field, _)| field.is_name);
    name.map_or_else(String::new, |(_, value)| value.named())
}

/// Reads the record of a path.
///
/// # Errors
///
/// 404
pub(crate) async fn find<R: Resource>(
    resource: R,
    state: &State,
    id: RecordId,
) -> Result<R::Record, Refusal> {
    let found = resource.read(state, id.known()?).await?;
    found.ok_or(Refusal::NotFound)
}

async fn list<R: ResourcePages>(resource: R, frame: Frame, parameters: Parameters) -> PageResult {
    frame.require(Verb::View, resource.model())?;
    let is_submitted = parameters.get("jump").is_some();
    if is_submitted && let Some(address) = resource.jump(&frame, &parameters).await? {
        return Ok(redirect(&address));
    }
    let filters = resource.filters(frame.locale);
    let request = ListRequest::read(&frame, filters, parameters).await?;
    let parameters = request.parameters.clone();
    let mut list = list_of(resource, &frame, request);
    if is_submitted && !list.form.is_refused() {
        // Removes the parameters that only the form needs from the address.
        return Ok(redirect(&list.address.whole()));
    }
    match resource.find(&frame, &mut list, &parameters).await {
        Ok(found) => {
            list.rows = resource.rows(&frame, &list, &found.results).await?;
            (list.count, list.number, list.size) = (found.count, found.number, found.size);
        }
        Err(Refusal::Fields(errors)) => list.form.absorb(&errors, frame.locale),
        Err(refusal) => return Err(refusal),
    }
    Ok(list.show(&frame))
}

/// The list without its records, with the buttons to create and import that the user has permission
/// for.
fn list_of<R: ResourcePages>(resource: R, frame: &Frame, request: ListRequest) -> ListPage {
    let (locale, path) = (frame.locale, resource.path());
    let (words, fields) = (resource.model().words(), resource.columns());
    let may_add = frame.may(Verb::Add, resource.model());
    let address = request.address(&format!("/{path}/"), R::ORDERING);
    let columns = fields.iter().map(|field| Column::of(frame, field));
    let empty = Empty::new(resource.icon(), words.none_yet(locale));
    let mut names = fields.iter().filter(|field| field.is_name);
    let name = names.find(|field| field.target.is_none());
    let list = ListPage {
        create: may_add.then(|| (words.new_one(locale), format!("/{path}/new/"))),
        import: may_add.then(|| format!("/import/?resource={path}")),
        name: name.map_or("", |field| field.name),
        chips: request.chips(&address, locale),
        filters: request.filters,
        form: request.form,
        ..ListPage::new(words.title(locale), address, columns.collect(), empty)
    };
    resource.adorn(frame, list)
}

async fn export<R: ResourcePages>(resource: R, frame: Frame, address: Uri) -> PageResult {
    frame.require(Verb::View, resource.model())?;
    let parameters = Parameters::of_address(&address);
    let filters = resource.filters(frame.locale);
    let list = ListRequest::read(&frame, filters, parameters).await?;
    if list.form.is_refused() {
        return Ok(list_page::back_to_list(&address));
    }
    match write_file(resource, &frame, list.parameters).await {
        Err(Refusal::Fields(_)) => Ok(list_page::back_to_list(&address)),
        file => Ok(file?),
    }
}

async fn write_file<R: ResourcePages>(
    resource: R,
    frame: &Frame,
    parameters: Parameters,
) -> Result<Response, Refusal> {
    list_page::limit_exports(frame).await?;
    let selected = resource.file(&frame.state, parameters).await?;
    let columns = list_page::headings(frame, resource.fields());
    let state = frame.state.clone();
    let read = async move |conn: &mut Conn, file: &ExportFile| {
        let put = |record: &R::Record| file.record(record);
        resource.each(conn, &state, &selected, put).await
    };
    list_page::export(frame, resource.path(), &columns, read).await
}

async fn ask_to_delete<R: ResourcePages>(resource: R, frame: Frame, id: RecordId) -> PageResult {
    frame.require(Verb::Delete, resource.model())?;
    let record = find(resource, &frame.state, id).await?;
    Ok(resource.deletion(&frame, &record).await?.show(&frame))
}

async fn delete<R: ResourcePages>(
    resource: R,
    frame: Frame,
    id: RecordId,
    post: FormSubmission,
) -> PageResult {
    frame.require(Verb::Delete, resource.model())?;
    let state = &frame.state;
    let next = own_next(post.form.value("next")).map(str::to_owned);
    let next = next.unwrap_or_else(|| format!("/{}/", resource.path()));
    let record = match (
        find(resource, state, id).await,
        resource.deleted_before(&frame),
    ) {
        (Err(Refusal::NotFound), Some(message)) => {
            return Ok(flash::warning(see_other(&next), message));
        }
        (found, _) => found?,
    };
    let deleted = writes::delete(state, &frame.caller, resource, id_of(&record)).await;
    match deleted {
        Ok(_) => {
            let message = resource.deleted(&frame, &record).await?;
            Ok(flash::success(see_other(&next), message))
        }
        Err(refusal) => {
            let deletion = resource.deletion(&frame, &record).await?;
            deletion.refuse(&frame, refusal)
        }
    }
}
