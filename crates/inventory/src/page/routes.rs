//! Routes of pages that record their addresses. The service redirects an address without its final
//! slash, and tests open every address.

use axum::{
    Router,
    handler::Handler,
    routing::{self, MethodRouter},
};
use http::Method;
use utoipa::openapi::OpenApi;
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter};

use super::{Frame, PageState, redirect};
use crate::rest::RecordId;

/// A path and its methods.
#[derive(Debug, Clone)]
pub struct RouteAddress {
    /// The path with parameters in braces.
    pub path: String,
    /// The methods, with `HEAD` where there is `GET`, without `OPTIONS`.
    pub methods: Vec<Method>,
}

/// A router of pages.
pub(crate) struct PageRouter {
    routes: OpenApiRouter<PageState>,
    addresses: Vec<RouteAddress>,
}

/// The parts of a router.
pub(crate) struct RouterParts {
    pub(crate) router: Router<PageState>,
    /// The OpenAPI description of the pages that programs may call, too.
    pub(crate) openapi: OpenApi,
    /// The addresses that are not in the OpenAPI document.
    pub(crate) addresses: Vec<RouteAddress>,
}

/// The handlers of one path.
pub(crate) struct Handlers {
    handlers: MethodRouter<PageState>,
    methods: Vec<Method>,
}

impl PageRouter {
    pub(crate) fn new() -> Self {
        Self {
            routes: OpenApiRouter::new(),
            addresses: Vec::new(),
        }
    }

    /// Adds a path that is not in the OpenAPI document.
    pub(crate) fn route(mut self, path: &str, handlers: Handlers) -> Self {
        self.routes = self.routes.route(path, handlers.handlers);
        self.addresses.push(RouteAddress {
            path: path.to_owned(),
            methods: handlers.methods,
        });
        self
    }

    /// Adds a path that the OpenAPI document describes.
    pub(crate) fn described(mut self, handlers: UtoipaMethodRouter<PageState>) -> Self {
        self.routes = self.routes.routes(handlers);
        self
    }

    /// Adds the routes of another router.
    pub(crate) fn merge(mut self, other: Self) -> Self {
        self.routes = self.routes.merge(other.routes);
        self.addresses.extend(other.addresses);
        self
    }

    /// Changes the inner router, for example to add middleware.
    pub(crate) fn map(
        mut self,
        change: impl FnOnce(OpenApiRouter<PageState>) -> OpenApiRouter<PageState>,
    ) -> Self {
        self.routes = change(self.routes);
        self
    }

    /// Splits the router into its parts.
    pub(crate) fn gathered(self) -> RouterParts {
        let (router, openapi) = self.routes.split_for_parts();
        RouterParts {
            router,
            openapi,
            addresses: self.addresses,
        }
    }
}

/// Handles `GET` and `HEAD`.
pub(crate) fn get<H: Handler<T, PageState>, T: 'static>(handler: H) -> Handlers {
    Handlers {
        handlers: routing::get(handler),
        methods: vec![Method::GET, Method::HEAD],
    }
}

/// Handles `POST` for a button of another page, whose address is relative to this one. Opened by
/// itself, for example after a login or after a change of the language, it leads to that page.
pub(crate) fn post_from<H: Handler<T, PageState>, T: 'static>(
    page: &'static str,
    handler: H,
) -> Handlers {
    get(async move |_: Frame| redirect(page)).post(handler)
}

/// A handler that several kinds of records share, bound to one kind. `I` is its input: an id, the
/// parameters of the address, or a form.
pub(crate) fn of<K, I, F, Fut>(
    kind: K,
    handler: F,
) -> impl Fn(Frame, I) -> Fut + Clone + Send + Sync + 'static
where
    K: Copy + Send + Sync + 'static,
    F: Fn(K, Frame, I) -> Fut + Copy + Send + Sync + 'static,
{
    move |frame, input| handler(kind, frame, input)
}

/// A handler for one record that several kinds share, bound to one kind.
pub(crate) fn of_one<K, I, F, Fut>(
    kind: K,
    handler: F,
) -> impl Fn(Frame, RecordId, I) -> Fut + Clone + Send + Sync + 'static
where
    K: Copy + Send + Sync + 'static,
    F: Fn(K, Frame, RecordId, I) -> Fut + Copy + Send + Sync + 'static,
{
    move |frame, id, input| handler(kind, frame, id, input)
}

impl Handlers {
    pub(crate) fn post<H: Handler<T, PageState>, T: 'static>(mut self, handler: H) -> Self {
        self.handlers = self.handlers.post(handler);
        self.methods.push(Method::POST);
        self
    }
}
