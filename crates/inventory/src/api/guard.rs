//! The checks of endpoints that belong to no resource.

use axum::{
    extract::{FromRequest, Request, State as Extracted},
    handler::Handler as _,
    response::Response,
    routing::{MethodRouter, any},
};
use http::Method;
use resource::Field;
use utoipa::openapi::path::Paths;
use utoipa_axum::router::UtoipaMethodRouter;

use super::{
    answer::answer,
    gate::{self, Call},
    metadata::{self, WritableFields},
    openapi::with_head,
};
use crate::{
    State,
    access::{Caller, Model},
    rest::{
        RecordId,
        query::Parameters,
        refusal::{Refusal, allow},
    },
};

/// The access rule of an endpoint, and its `OPTIONS` response.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Guard {
    name: &'static str,
    rule: AccessRule,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum AccessRule {
    /// Users with the permission for these records. The handler gets a [`Call`].
    Permitted(Model),
    /// Everybody. `OPTIONS` lists the fields to post; an `Authorization` header is ignored.
    Anyone(&'static [&'static Field]),
    /// Programs that sign their requests; the handler checks the signature. There is no rate limit,
    /// since only our own services know the secret.
    Signed,
}

impl Guard {
    /// An endpoint for users with the permission for these records.
    pub(crate) const fn of(model: Model, name: &'static str) -> Self {
        let rule = AccessRule::Permitted(model);
        Self { name, rule }
    }

    /// A public endpoint to which these fields are posted.
    pub(crate) const fn for_anyone(name: &'static str, fields: &'static [&'static Field]) -> Self {
        let rule = AccessRule::Anyone(fields);
        Self { name, rule }
    }

    /// An endpoint for signed requests.
    pub(crate) const fn for_signed(name: &'static str) -> Self {
        let rule = AccessRule::Signed;
        Self { name, rule }
    }

    /// Puts the checks before these handlers. The methods for `Allow` and 405 come from the
    /// handlers' OpenAPI descriptions.
    pub(crate) fn before(
        self,
        (schemas, paths, handlers): UtoipaMethodRouter<State>,
    ) -> UtoipaMethodRouter<State> {
        let methods = allowed(&paths);
        let allow = allow(methods);
        let gated = async move |Extracted(state): Extracted<State>,
                                // Extracted only so that an invalid path is 404 before any other
                                // check.
                                _: RecordId,
                                request: Request| {
            answer(&allow, self.serve(methods, handlers, &state, request).await)
        };
        (schemas, paths, any(gated))
    }

    async fn serve(
        self,
        allow: &'static [Method],
        handlers: MethodRouter<State>,
        state: &State,
        request: Request,
    ) -> Result<Response, Refusal> {
        let mut request = self.admit(allow, state, request).await?;
        if request.method() == Method::OPTIONS {
            return Ok(metadata::answer(self.name, self.action()));
        }
        if request.method() == Method::HEAD {
            // The router empties the answer to HEAD at the end and keeps its length. The handlers'
            // own router would empty it before it is pretty-printed.
            *request.method_mut() = Method::GET;
        }
        Ok(handlers.call(request, state.clone()).await)
    }

    async fn admit(
        self,
        allow: &'static [Method],
        state: &State,
        request: Request,
    ) -> Result<Request, Refusal> {
        let (parts, body) = match self.rule {
            AccessRule::Permitted(model) => {
                let mut call = gate::admit(state, model, allow, request).await?;
                call.parts.extensions.insert(call.caller);
                (call.parts, call.body)
            }
            AccessRule::Anyone(_) => gate::admit_anyone(state, allow, request).await?,
            AccessRule::Signed => {
                let (parts, body) = request.into_parts();
                gate::check_method(&parts, allow)?;
                (parts, body)
            }
        };
        Ok(Request::from_parts(parts, body))
    }

    const fn action(self) -> Option<WritableFields> {
        match self.rule {
            AccessRule::Permitted(_) | AccessRule::Signed => None,
            AccessRule::Anyone(fields) => Some(WritableFields {
                method: Method::POST,
                fields,
            }),
        }
    }
}

/// A request that the guard has let through.
impl FromRequest<State> for Call {
    type Rejection = web::Error;

    async fn from_request(request: Request, _: &State) -> Result<Self, web::Error> {
        let (mut parts, body) = request.into_parts();
        let caller = parts.extensions.remove::<Caller>();
        Ok(Self {
            caller: caller.ok_or_else(|| web::Error::internal("no gate before a handler"))?,
            parameters: Parameters::of_address(&parts.uri),
            parts,
            body,
        })
    }
}

/// The methods that the handlers describe, in the order of the `Allow` header. Leaked, since each
/// router is built once for each process.
fn allowed(paths: &Paths) -> &'static [Method] {
    let described = paths.paths.values().flat_map(web::openapi::methods);
    let mut methods = with_head(described);
    methods.push(Method::OPTIONS);
    methods.leak()
}
