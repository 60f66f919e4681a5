//! The first page of the web interface: who is logged in, and the way to the API's documents and out again.

use askama::Template;
use axum::{
    Router,
    extract::{Request, State as Extracted},
    response::{IntoResponse as _, Response},
    routing::get,
};
use web::{
    client::Origin,
    page::{Layout, Page},
};

use crate::{
    accounts::session::{cookies, visits::Visit},
    page::{PageState, login_address, redirect},
};

#[derive(Template)]
#[template(path = "home/home.html")]
struct HomePage {
    layout: Layout,
    username: String,
    token: String,
}

/// `GET /`.
pub(crate) fn routes() -> Router<PageState> {
    Router::new().route("/", get(home))
}

async fn home(Extracted(page): Extracted<PageState>, layout: Layout, request: Request) -> Response {
    let visit = Visit::of(request.extensions());
    let Some(caller) = visit.caller() else {
        return redirect(&login_address(request.uri()));
    };
    let random = &page.state.random;
    let secret = visit.secret(request.headers(), random);
    let home = HomePage {
        layout,
        username: caller.username.clone(),
        token: secret.masked(random),
    };
    let mut response = Page::new(home).into_response();
    let is_https = Origin::known(request.extensions()).is_https;
    cookies::show_secret(&mut response, &secret, is_https);
    response
}
