//! The API documents: the `OpenAPI` document itself, and two viewers for it, Swagger UI and Redoc,
//! whose files are embedded.
//!
//! A viewer has a megabyte of files, so it is loaded on demand, from a page that describes and
//! links the document. Nothing is loaded from another site. The viewers use our design tokens,
//! light and dark. The scripts in `assets/documents` mend their accessibility. Their pages have a
//! security policy of their own, see [`Policy::Documents`].

use askama::Template;
use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::response::IntoResponse;
use axum::routing::{MethodRouter, get};
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use rust_embed::RustEmbed;
use utoipa::openapi::path::OperationBuilder;
use utoipa::openapi::schema::{Object, Type};
use utoipa::openapi::{Content, HttpMethod, OpenApi, ResponseBuilder};

use crate::assets::Assets;
use crate::locale::Theme;
use crate::page::Page;
use crate::security::{self, Policy};

/// The viewers' files, to be added to the service's [`Assets`].
#[derive(RustEmbed)]
#[folder = "assets/vendor/"]
#[include = "*/*.js"]
#[include = "*/*.css"]
pub struct Viewers;

/// Where the documents are.
#[derive(Clone, Copy, Debug)]
pub struct Paths {
    /// Swagger UI.
    pub swagger_ui: &'static str,
    /// Redoc.
    pub redoc: &'static str,
    /// The document, JSON.
    pub schema: &'static str,
}

#[derive(Clone, Template)]
#[template(path = "documents/viewer.html")]
struct Viewer {
    title: &'static str,
    theme: Theme,
    schema: &'static str,
    /// Each viewer's name, its path, and whether this page is it.
    viewers: [(&'static str, &'static str, bool); 2],
    icon: String,
    /// The styles of the page itself, without the viewer.
    page_styles: [String; 2],
    opener: String,
    /// The files of the viewer, in this order.
    styles: Vec<String>,
    scripts: Vec<String>,
}

impl Viewer {
    /// The viewer's name.
    fn name(&self) -> &'static str {
        let this = self.viewers.iter().find(|(_, _, is_this)| *is_this);
        this.map_or("", |(name, ..)| *name)
    }
}

/// The design tokens, which the viewers are given instead of colours of their own.
const TOKENS: &str = "tokens.css";

/// The documents of one API: the viewers at their paths, and the document. `assets` must have the
/// shared files and those of [`Viewers`].
pub fn routes<S: Clone + Send + Sync + 'static>(
    title: &'static str,
    document: impl Into<Bytes>,
    paths: Paths,
    assets: &Assets,
) -> Router<S> {
    let urls = |names: &[&str]| names.iter().map(|name| assets.url(name)).collect();
    let viewer = |path: &str, styles: &[&str], scripts: &[&str]| Viewer {
        title,
        theme: Theme::Auto,
        schema: paths.schema,
        viewers: [("Swagger UI", paths.swagger_ui), ("Redoc", paths.redoc)]
            .map(|(name, there)| (name, there, there == path)),
        icon: assets.url("favicon.svg"),
        page_styles: [TOKENS, "documents/documents.css"].map(|name| assets.url(name)),
        opener: assets.url("documents/open.js"),
        styles: urls(styles),
        scripts: urls(scripts),
    };
    let swagger_ui = viewer(
        paths.swagger_ui,
        &["swagger-ui/swagger-ui.css", "documents/swagger-ui.css"],
        &["swagger-ui/swagger-ui-bundle.js", "documents/swagger-ui.js"],
    );
    let redoc = viewer(
        paths.redoc,
        &["documents/redoc.css"],
        &["redoc/redoc.standalone.js", "documents/redoc.js"],
    );
    let document: Bytes = document.into();
    let schema = async move || {
        (
            [(CONTENT_TYPE, HeaderValue::from_static("application/json"))],
            document,
        )
            .into_response()
    };
    Router::new()
        .route(paths.swagger_ui, viewer_page(swagger_ui))
        .route(paths.redoc, viewer_page(redoc))
        .layer(from_fn_with_state(Policy::Documents, security::headers))
        .route(paths.schema, get(schema))
}

/// Describes the routes of the documents in the document itself.
pub fn describe(api: &mut OpenApi, paths: Paths) {
    let schema = ("application/json", any(Type::Object));
    let try_out = described(
        "documentation",
        "This document, to try out",
        "A page.",
        html(),
    );
    let read = described("reference", "This document, to read", "A page.", html());
    // The operation is called as its address is: `openapi`, `schema`.
    let id = paths.schema.trim_matches('/').trim_end_matches(".json");
    let id = id.rsplit('/').next().unwrap_or(id);
    let document = described(id, "This document", "OpenAPI 3.1.", schema);
    let all = [
        (paths.swagger_ui, try_out),
        (paths.redoc, read),
        (paths.schema, document),
    ];
    for (path, operation) in all {
        let methods = vec![HttpMethod::Get];
        api.paths.add_path_operation(path, methods, operation);
    }
}

fn described(
    id: &str,
    summary: &str,
    response: &str,
    (content_type, content): (&str, Content),
) -> OperationBuilder {
    let response = ResponseBuilder::new().description(response);
    OperationBuilder::new()
        .tag("Pages")
        .operation_id(Some(id))
        .summary(Some(summary))
        .securities(Some([]))
        .response("200", response.content(content_type, content))
}

/// The content of a response that is a page.
pub fn html() -> (&'static str, Content) {
    ("text/html; charset=utf-8", any(Type::String))
}

fn any(kind: Type) -> Content {
    Content::new(Some(Object::with_type(kind)))
}

/// A viewer in the colours that its reader has chosen on our other pages.
fn viewer_page<S: Clone + Send + Sync + 'static>(viewer: Viewer) -> MethodRouter<S> {
    get(async move |headers: HeaderMap| {
        let theme = Theme::of(&headers);
        Page::new(Viewer { theme, ..viewer })
    })
}
