//! One dispatcher for all resources of the API: methods to functions, refusals to errors, records
//! to JSON. A resource defines its records and how they are stored.

use std::future::Future;

use axum::{
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
use web::{client::PublicUrl, json::RECORD_BYTES};

pub(crate) use super::submission::too_large;
pub use super::submission::{Submission, content_type, read_bytes, read_members, submission};
use super::{
    gate::{self, Call},
    metadata::{self, WritableFields},
    openapi::{self, Description},
    submission::repeatable_submission,
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

/// The methods of a list.
pub const LIST: &[Method] = &[Method::GET, Method::POST, Method::HEAD, Method::OPTIONS];

/// The methods of a record that can be edited.
pub const MUTABLE: &[Method] = &[
    Method::GET,
    Method::PUT,
    Method::PATCH,
    Method::DELETE,
    Method::HEAD,
    Method::OPTIONS,
];
/// The methods of a record that cannot be edited.
pub const IMMUTABLE: &[Method] = &[Method::GET, Method::DELETE, Method::HEAD, Method::OPTIONS];

/// The result of a creation.
#[derive(Debug)]
pub enum Created<T> {
    /// A new record.
    New(T),
    /// The stored response body of an earlier request with the same idempotency key.
    Replayed(String),
}

/// A kind of records: its name, who may do what with it, and how one is read.
pub trait Resource: Copy + Send + Sync + 'static {
    /// The record, with its fields in the resource's order.
    type Record: Record;

    /// The path of the list: below `/` of the pages, and below `/api/v1/` of the API.
    fn path(self) -> &'static str;
    /// The records whose permissions are required.
    fn model(self) -> Model;
    /// The methods of one record, in the order of the `Allow` header.
    fn methods(self) -> &'static [Method];
    /// The fields, in the order of responses and errors.
    fn fields(self) -> &'static [&'static Field];

    /// Reads one record.
    fn read(
        self,
        state: &State,
        id: i64,
    ) -> impl Future<Output = Result<Option<Self::Record>, Refusal>> + Send;
}

/// A resource of the API.
pub trait ApiResource: Resource<Record: Serialize> {
    /// The OpenAPI description, without the fields.
    fn description(self) -> Description;

    /// Whether a creation accepts an `Idempotency-Key`.
    fn is_repeatable(self) -> bool {
        false
    }

    /// Reads the records of one page. Filters are checked before the page number.
    fn list(
        self,
        state: &State,
        parameters: &Parameters,
    ) -> impl Future<Output = Result<Page<Self::Record>, Refusal>> + Send;
    /// Creates a record.
    fn create(
        self,
        work: &mut Work<'_>,
        draft: &Draft<Self::Record>,
    ) -> impl Future<Output = Result<Self::Record, Refusal>>;
    /// Creates a record in a batch with other pending creations. `None` if it cannot be batched;
    /// nothing is written then.
    fn create_batched(
        self,
        _state: &State,
        _author: &Author,
        _draft: &Draft<Self::Record>,
    ) -> impl Future<Output = Result<Option<Self::Record>, Refusal>> + Send {
        async { Ok(None) }
    }
    /// Changes a record; `None` if it does not exist. Only resources with PUT and PATCH implement
    /// this.
    fn change(
        self,
        _work: &mut Work<'_>,
        _id: i64,
        _draft: &Draft<Self::Record>,
    ) -> impl Future<Output = Result<Option<Self::Record>, Refusal>> {
        async { Err(Refusal::forbidden()) }
    }
    /// Deletes a record. Returns whether it existed.
    fn delete(self, work: &mut Work<'_>, id: i64) -> impl Future<Output = Result<bool, Refusal>>;
}

/// The routes of a resource with their OpenAPI descriptions.
pub fn routes<R: ApiResource>(resource: R) -> OpenApiRouter<State> {
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

async fn on_list<R: ApiResource>(
    resource: R,
    state: &State,
    request: Request,
) -> Result<Response, Refusal> {
    let call = gate::admit(state, resource.model(), LIST, request).await?;
    match call.parts.method {
        // The futures of writes are large. Boxing them keeps the futures of reads small.
        Method::POST => Box::pin(create(resource, state, call)).await,
        Method::OPTIONS => Ok(metadata_of(resource, &call.caller, "List", Some(Verb::Add))),
        _ => {
            let page = resource.list(state, &call.parameters).await?;
            Ok(paginated(call, &page).await)
        }
    }
}

async fn on_record<R: ApiResource>(
    resource: R,
    state: &State,
    id: Option<i64>,
    request: Request,
) -> Result<Response, Refusal> {
    let call = gate::admit(state, resource.model(), resource.methods(), request).await?;
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

async fn create<R: ApiResource>(
    resource: R,
    state: &State,
    call: Call,
) -> Result<Response, Refusal> {
    let path = resource.is_repeatable().then(|| resource.path());
    let (submission, key) = repeatable_submission(state, call, path).await?;
    let draft = Draft::read_fields(resource.fields(), &submission.members, Mode::Whole);
    let answer = writes::create(state, &submission.caller, resource, draft, key);
    Ok(created(answer.await?))
}

async fn change<R: ApiResource>(
    resource: R,
    state: &State,
    call: Call,
    id: i64,
) -> Result<Response, Refusal> {
    // An unknown record is 404 even if the body is invalid.
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

async fn delete<R: ApiResource>(
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

/// The `OPTIONS` response of a resource, with the fields that the caller may write.
fn metadata_of<R: ApiResource>(
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
    metadata::answer(&metadata::endpoint_name(model.code(), what), actions)
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

/// A response with a record as JSON.
pub fn json<T: Serialize>(status: StatusCode, record: &T) -> Response {
    web::json::answer(RECORD_BYTES, status, record)
}

/// The response body of one page.
#[derive(Serialize)]
pub(super) struct Pagination<'page, T> {
    pub(super) count: u64,
    pub(super) next: Option<String>,
    pub(super) previous: Option<String>,
    pub(super) results: &'page [T],
}

/// The response with a page and the addresses of the next and the previous one.
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
    web::json::answer(
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

/// Adds the headers that all responses of an endpoint have.
pub fn answer(allow: &HeaderValue, result: Result<Response, Refusal>) -> Response {
    let mut response = result.unwrap_or_else(|refusal| web::Error::from(refusal).into_response());
    response.headers_mut().insert(ALLOW, allow.clone());
    response.headers_mut().insert(VARY, gate::VARY);
    response
}
