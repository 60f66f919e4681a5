//! One dispatcher for every resource of the API: from methods to functions, from refusals to
//! errors, from records to JSON. A resource defines its records and where they are stored; what all
//! of them have in common is here.

use std::future::Future;

use axum::{
    body::Body,
    extract::{FromRequestParts as _, Request, State as Extracted},
    response::{IntoResponse, Response},
    routing::any,
};
use http::{
    HeaderName, HeaderValue, Method, StatusCode,
    header::{ALLOW, CONTENT_TYPE, VARY},
};
use resource::{Field, Record};
use serde::Serialize;
use utoipa_axum::router::OpenApiRouter;
use web::client::PublicUrl;

pub(crate) use super::submission::too_large;
pub use super::submission::{Submission, content_type, read_bytes, read_members, submission};
use super::{
    gate::{self, Call, Endpoint},
    metadata::{self, WritableFields},
    openapi::{self, Description},
    writes,
};
use crate::{
    State,
    access::{Caller, Model, Permission, Verb},
    rest::{
        RecordId,
        fields::{Draft, Mode},
        page::Page,
        query::{Parameters, with_query},
        refusal::{Refusal, allow},
    },
    work::{Author, Work},
};

/// The methods of a list's address.
pub const LIST: &[Method] = &[Method::GET, Method::POST, Method::HEAD, Method::OPTIONS];

/// The methods of one record that people edit.
pub const MUTABLE: &[Method] = &[
    Method::GET,
    Method::PUT,
    Method::PATCH,
    Method::DELETE,
    Method::HEAD,
    Method::OPTIONS,
];
/// The methods of one record that stays as it was made.
pub const IMMUTABLE: &[Method] = &[Method::GET, Method::DELETE, Method::HEAD, Method::OPTIONS];

/// What a creation answers.
#[derive(Debug)]
pub enum Created<T> {
    /// A new record.
    New(T),
    /// The body that the same request was answered with before.
    Replayed(String),
}

/// A resource of the API.
pub trait Resource: Copy + Send + Sync + 'static {
    /// What its addresses answer, in the order of the resource's fields.
    type Record: Record + Serialize;

    /// Its place under `/api/v1/`, such as `brands`.
    fn path(self) -> &'static str;
    /// Whose permissions count.
    fn model(self) -> Model;
    /// The methods of one record's address, in the order of `Allow`.
    fn methods(self) -> &'static [Method];
    /// Its fields, in the order of answers and errors.
    fn fields(self) -> &'static [&'static Field];
    /// What the API's document says of it beside.
    fn description(self) -> Description;

    /// Whether a creation may be repeated under an `Idempotency-Key`.
    fn is_repeatable(self) -> bool {
        false
    }

    /// Reads the records of one page. Filters are checked before the page is.
    fn list(
        self,
        state: &State,
        parameters: &Parameters,
    ) -> impl Future<Output = Result<Page<Self::Record>, Refusal>> + Send;
    /// Reads one record.
    fn read(
        self,
        state: &State,
        id: i64,
    ) -> impl Future<Output = Result<Option<Self::Record>, Refusal>> + Send;
    /// Creates a record.
    fn create(
        self,
        work: &mut Work<'_>,
        draft: &Draft<Self::Record>,
    ) -> impl Future<Output = Result<Self::Record, Refusal>>;
    /// Creates a record together with others that wait at the same time; `None`, and nothing is
    /// written, where that is not possible.
    fn create_batched(
        self,
        _state: &State,
        _author: &Author,
        _draft: &Draft<Self::Record>,
    ) -> impl Future<Output = Result<Option<Self::Record>, Refusal>> + Send {
        async { Ok(None) }
    }
    /// Changes a record; `None` when it is gone. Only resources that have PUT and PATCH do this.
    fn change(
        self,
        _work: &mut Work<'_>,
        _id: i64,
        _draft: &Draft<Self::Record>,
    ) -> impl Future<Output = Result<Option<Self::Record>, Refusal>> {
        async { Err(Refusal::forbidden()) }
    }
    /// Deletes a record; whether it was there.
    fn delete(self, work: &mut Work<'_>, id: i64) -> impl Future<Output = Result<bool, Refusal>>;
}

/// The addresses of a resource, as its description describes them.
pub fn routes<R: Resource>(resource: R) -> OpenApiRouter<State> {
    let list = format!("/api/v1/{}/", resource.path());
    let record = format!("{list}{{id}}/");
    let (list_allow, record_allow) = (allow(LIST), allow(resource.methods()));
    let on_list = async move |Extracted(state): Extracted<State>, request: Request| {
        answer(&list_allow, on_list(resource, &state, request).await)
    };
    let on_record = async move |Extracted(state): Extracted<State>,
                                RecordId(id): RecordId,
                                request: Request| {
        let answered = on_record(resource, &state, id, request).await;
        answer(&record_allow, answered)
    };
    let schemas = openapi::schemas(resource);
    let list = openapi::of_list(resource, &list);
    let record = openapi::of_record(resource, &record);
    OpenApiRouter::new()
        .routes((schemas, list, any(on_list)))
        .routes((Vec::new(), record, any(on_record)))
}

async fn on_list<R: Resource>(
    resource: R,
    state: &State,
    request: Request,
) -> Result<Response, Refusal> {
    let endpoint = Endpoint {
        model: resource.model(),
        allow: LIST,
    };
    let call = gate::admit(state, endpoint, request).await?;
    match call.parts.method {
        // The futures of writes are large: in boxes of their own no read carries them along.
        Method::POST => Box::pin(create(resource, state, call)).await,
        Method::OPTIONS => Ok(metadata_of(resource, &call.caller, "List", Some(Verb::Add))),
        _ => {
            let page = resource.list(state, &call.parameters).await?;
            Ok(paginated(call, &page).await)
        }
    }
}

async fn on_record<R: Resource>(
    resource: R,
    state: &State,
    id: Option<i64>,
    request: Request,
) -> Result<Response, Refusal> {
    let endpoint = Endpoint {
        model: resource.model(),
        allow: resource.methods(),
    };
    let call = gate::admit(state, endpoint, request).await?;
    if call.parts.method == Method::OPTIONS {
        let known = match id {
            Some(id) => resource.read(state, id).await?,
            None => None,
        };
        let verb = known.map(|_| Verb::Change);
        return Ok(metadata_of(resource, &call.caller, "Instance", verb));
    }
    let id = id.ok_or(Refusal::NotFound)?;
    match call.parts.method {
        Method::DELETE => Box::pin(delete(resource, state, call, id)).await,
        Method::PUT | Method::PATCH => Box::pin(change(resource, state, call, id)).await,
        _ => {
            let record = resource.read(state, id).await?.ok_or(Refusal::NotFound)?;
            Ok(json(StatusCode::OK, &record))
        }
    }
}

async fn create<R: Resource>(resource: R, state: &State, call: Call) -> Result<Response, Refusal> {
    let submission = submission(state, call).await?;
    let (fields, path) = (resource.fields(), resource.path());
    let draft = Draft::read_fields(fields, &submission.members, Mode::Whole);
    let key = submission.idempotency_key(path);
    let key = key.filter(|_| resource.is_repeatable());
    let answer = writes::create(state, &submission.caller, resource, draft, key);
    Ok(created(answer.await?))
}

async fn change<R: Resource>(
    resource: R,
    state: &State,
    call: Call,
    id: i64,
) -> Result<Response, Refusal> {
    // An unknown record is unknown whatever the body says.
    let known = resource.read(state, id).await?;
    known.ok_or(Refusal::NotFound)?;
    let mode = if call.parts.method == Method::PUT {
        Mode::Whole
    } else {
        Mode::Partial
    };
    let submission = submission(state, call).await?;
    let draft = Draft::read_fields(resource.fields(), &submission.members, mode);
    let changed = writes::change(state, &submission.caller, resource, id, draft).await?;
    Ok(json(StatusCode::OK, &changed.ok_or(Refusal::NotFound)?))
}

async fn delete<R: Resource>(
    resource: R,
    state: &State,
    call: Call,
    id: i64,
) -> Result<Response, Refusal> {
    if writes::delete(state, &call.caller, resource, id).await? {
        Ok(StatusCode::NO_CONTENT.into_response())
    } else {
        Err(Refusal::NotFound)
    }
}

/// What an address tells of itself, with what may be written there by whoever asks.
fn metadata_of<R: Resource>(
    resource: R,
    caller: &Caller,
    what: &str,
    writes: Option<Verb>,
) -> Response {
    let model = resource.model();
    let method = match writes {
        Some(verb) if !caller.may(Permission::new(verb, model)) => None,
        Some(Verb::Add) => Some(Method::POST),
        Some(Verb::Change) if resource.methods().contains(&Method::PUT) => Some(Method::PUT),
        _ => None,
    };
    let actions = method.map(|method| WritableFields {
        method,
        fields: resource.fields(),
    });
    metadata::answer(&metadata::called(model.code(), what), actions)
}

fn created<T: Serialize>(created: Created<T>) -> Response {
    match created {
        Created::New(record) => json(StatusCode::CREATED, &record),
        Created::Replayed(body) => {
            let headers = [
                (CONTENT_TYPE, HeaderValue::from_static("application/json")),
                (
                    HeaderName::from_static("idempotent-replayed"),
                    HeaderValue::from_static("true"),
                ),
            ];
            (StatusCode::CREATED, headers, body).into_response()
        }
    }
}

/// Room for the JSON of most records.
const RECORD_BYTES: usize = 512;

/// A record as JSON.
pub fn json<T: Serialize>(status: StatusCode, record: &T) -> Response {
    json_with_capacity(RECORD_BYTES, status, record)
}

/// JSON in a buffer of so many bytes: one that grows is copied and wiped each time.
fn json_with_capacity<T: Serialize>(bytes: usize, status: StatusCode, content: &T) -> Response {
    let mut body = Vec::with_capacity(bytes);
    match serde_json::to_writer(&mut body, content) {
        Ok(()) => (
            status,
            [(CONTENT_TYPE, HeaderValue::from_static("application/json"))],
            Body::from(body),
        )
            .into_response(),
        Err(error) => web::Error::internal(error).into_response(),
    }
}

/// A page as it is answered.
#[derive(Serialize)]
pub(super) struct Pagination<'page, T> {
    pub(super) count: u64,
    pub(super) next: Option<String>,
    pub(super) previous: Option<String>,
    pub(super) results: &'page [T],
}

/// A page with the addresses of the pages beside it.
pub async fn paginated<T: Serialize>(mut call: Call, page: &Page<T>) -> Response {
    let Ok(base) = PublicUrl::from_request_parts(&mut call.parts, &()).await;
    let address = |page: Option<u64>| {
        let query = call.parameters.with_page(page);
        base.join(&with_query(call.parts.uri.path(), &query))
    };
    let is_last = page.number.saturating_mul(page.size) >= page.count;
    let next = (!is_last).then(|| address(Some(page.number + 1)));
    let previous = match page.number {
        0 | 1 => None,
        2 => Some(address(None)),
        number => Some(address(Some(number - 1))),
    };
    json_with_capacity(
        RECORD_BYTES * page.results.len().max(1),
        StatusCode::OK,
        &Pagination {
            count: page.count,
            next,
            previous,
            results: &page.results,
        },
    )
}

/// Adds what every answer of an address carries.
pub fn answer(allow: &HeaderValue, result: Result<Response, Refusal>) -> Response {
    let mut response = result.unwrap_or_else(|refusal| web::Error::from(refusal).into_response());
    response.headers_mut().insert(ALLOW, allow.clone());
    response.headers_mut().insert(VARY, gate::VARY);
    response
}
