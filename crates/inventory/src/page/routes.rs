//! Routes of pages. They know their addresses: an address without its last slash leads to the one
//! with it, and tests open all of them.

use axum::{
    Router,
    extract::Request,
    handler::Handler,
    routing::{self, MethodRouter},
};
use http::Method;
use utoipa::openapi::OpenApi;
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter};

use super::{Frame, PageState, SharedPage};
use crate::rest::RecordId;

/// An address, and the methods that it answers.
#[derive(Debug, Clone)]
pub struct RouteAddress {
    /// With its variables in braces.
    pub path: String,
    /// `HEAD` where there is `GET`; `OPTIONS` left out.
    pub methods: Vec<Method>,
}

/// Routes of pages.
pub(crate) struct PageRouter {
    routes: OpenApiRouter<PageState>,
    addresses: Vec<RouteAddress>,
}

/// What routes of pages amount to.
pub(crate) struct RouterParts {
    /// The routes.
    pub(crate) router: Router<PageState>,
    /// What the API's document says of those that programs may call too.
    pub(crate) openapi: OpenApi,
    /// The addresses that only people read.
    pub(crate) addresses: Vec<RouteAddress>,
}

/// The handlers of one address.
pub(crate) struct Handlers {
    handlers: MethodRouter<PageState>,
    methods: Vec<Method>,
}

impl PageRouter {
    /// No routes.
    pub(crate) fn new() -> Self {
        Self {
            routes: OpenApiRouter::new(),
            addresses: Vec::new(),
        }
    }

    /// Adds an address that only people read.
    pub(crate) fn route(mut self, path: &str, handlers: Handlers) -> Self {
        self.routes = self.routes.route(path, handlers.handlers);
        self.addresses.push(RouteAddress {
            path: path.to_owned(),
            methods: handlers.methods,
        });
        self
    }

    /// Adds an address that the API's document describes.
    pub(crate) fn described(mut self, handlers: UtoipaMethodRouter<PageState>) -> Self {
        self.routes = self.routes.routes(handlers);
        self
    }

    /// Adds other routes.
    pub(crate) fn merge(mut self, other: Self) -> Self {
        self.routes = self.routes.merge(other.routes);
        self.addresses.extend(other.addresses);
        self
    }

    /// Changes what serves the addresses, as by a layer.
    pub(crate) fn map(
        mut self,
        change: impl FnOnce(OpenApiRouter<PageState>) -> OpenApiRouter<PageState>,
    ) -> Self {
        self.routes = change(self.routes);
        self
    }

    /// The parts.
    pub(crate) fn gathered(self) -> RouterParts {
        let (router, openapi) = self.routes.split_for_parts();
        RouterParts {
            router,
            openapi,
            addresses: self.addresses,
        }
    }
}

/// A page that is read.
pub(crate) fn get<H: Handler<T, PageState>, T: 'static>(handler: H) -> Handlers {
    Handlers {
        handlers: routing::get(handler),
        methods: vec![Method::GET, Method::HEAD],
    }
}

/// What is only posted to.
pub(crate) fn post<H: Handler<T, PageState>, T: 'static>(handler: H) -> Handlers {
    Handlers {
        handlers: routing::post(handler),
        methods: vec![Method::POST],
    }
}

/// The handler of a page that several kinds of records share: it is given the kind first.
pub(crate) fn of<K, F, Fut>(
    kind: K,
    handler: F,
) -> impl Fn(SharedPage, Frame, Request) -> Fut + Clone + Send + Sync + 'static
where
    K: Copy + Send + Sync + 'static,
    F: Fn(K, SharedPage, Frame, Request) -> Fut + Copy + Send + Sync + 'static,
{
    move |page, frame, request| handler(kind, page, frame, request)
}

/// The same of the page of one record.
pub(crate) fn of_one<K, F, Fut>(
    kind: K,
    handler: F,
) -> impl Fn(SharedPage, Frame, RecordId, Request) -> Fut + Clone + Send + Sync + 'static
where
    K: Copy + Send + Sync + 'static,
    F: Fn(K, SharedPage, Frame, RecordId, Request) -> Fut + Copy + Send + Sync + 'static,
{
    move |page, frame, id, request| handler(kind, page, frame, id, request)
}

impl Handlers {
    /// A page whose form is posted to the same address.
    pub(crate) fn post<H: Handler<T, PageState>, T: 'static>(mut self, handler: H) -> Self {
        self.handlers = self.handlers.post(handler);
        self.methods.push(Method::POST);
        self
    }
}
