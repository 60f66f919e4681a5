//! One dispatcher for all resources of the API: methods to functions, refusals to errors, records
//! to JSON.

use axum::{
    extract::{Request, State as Extracted},
    response::{IntoResponse as _, Response},
    routing::any,
};
use http::{Method, StatusCode};
use utoipa_axum::router::OpenApiRouter;

use super::{
    answer::{answer, created, json, paginated},
    gate::{self, Call},
    metadata::{self, WritableFields},
    openapi,
    resource::{ApiResource, LIST},
    submission::{repeatable_submission, submission},
    writes,
};
use crate::{
    State,
    access::{Caller, Permission, Verb},
    rest::{
        RecordId,
        fields::{Draft, Mode},
        refusal::{Refusal, allow},
    },
};

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
