//! The shared parts of the web interface: state, frame and navigation, flash messages, forms,
//! redirects and error pages. The pages themselves are with their features.

pub(crate) mod confirmation;
pub(crate) mod edit_conflict;
pub(crate) mod fact;
pub(crate) mod flash;
pub(crate) mod form;
pub(crate) mod form_token;
mod frame;
pub(crate) mod history;
pub(crate) mod list_page;
pub(crate) mod numbers;
pub(crate) mod part;
pub(crate) mod picker;
pub(crate) mod places;
pub(crate) mod posts;
pub(crate) mod record_form;
pub(crate) mod records;
pub(crate) mod request_body;
pub(crate) mod routes;
pub(crate) mod shortcuts;
pub(crate) mod trend;
pub(crate) mod value;
pub(crate) mod visits;

pub(crate) use form::Form;
pub(crate) use frame::{Frame, own_next, picked_next, see_other};
pub(crate) use posts::FormSubmission;
pub use routes::RouteAddress;

use axum::{
    extract::FromRef,
    response::{IntoResponse as _, Response},
};
use http::{
    HeaderValue, StatusCode,
    header::{CACHE_CONTROL, LOCATION},
    request::Parts,
};
use rust_embed::RustEmbed;
use web::{assets::Assets, client::referring_path, locale::is_own_path};

use crate::{
    State,
    rest::{Refusal, query::encode},
};

/// The scripts of the pages, and the styles of the administration.
#[derive(RustEmbed)]
#[folder = "assets/"]
pub(crate) struct Files;

#[derive(Clone)]
pub(crate) struct PageState {
    pub(crate) state: State,
    /// Styles, images and scripts.
    pub(crate) assets: Assets,
    /// The address under which a list is saved as a view. `None` if it cannot be saved.
    pub(crate) saved_address: fn(&str) -> Option<String>,
}

impl FromRef<PageState> for Assets {
    fn from_ref(page: &PageState) -> Self {
        page.assets.clone()
    }
}

pub(crate) type PageResult = Result<Response, Refusal>;

/// Forbids browsers to store a page, also in the back/forward cache.
pub(crate) fn prevent_caching(response: &mut Response) {
    let nothing = "max-age=0, no-cache, no-store, must-revalidate, private";
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static(nothing));
}

/// The text with at most `most` characters; a cut one ends in "…".
pub(crate) fn shortened(text: &str, most: usize) -> String {
    if text.chars().nth(most).is_none() {
        return text.to_owned();
    }
    text.chars().take(most - 1).chain(['…']).collect()
}

/// Redirects with 302 to a path of this service.
pub(crate) fn redirect(address: &str) -> Response {
    let location = HeaderValue::from_str(address).unwrap_or(HeaderValue::from_static("/"));
    (StatusCode::FOUND, [(LOCATION, location)]).into_response()
}

/// The parameter of a login's address after the end of a session.
pub(crate) const ENDED: &str = "ended";

/// Where to go after the login: the path that the user came from, never another site.
pub(crate) fn safe_next(next: Option<&str>) -> String {
    next.filter(|next| is_own_path(next))
        .unwrap_or("/")
        .to_owned()
}

/// The address of the login that leads back to the requested page. A form that was sent after the
/// end of its session is lost: the login says so and leads back to the form's page.
pub(crate) fn login_address(parts: &Parts) -> String {
    let requested = parts.uri.path_and_query().map_or("/", |path| path.as_str());
    if parts.method.is_safe() {
        return login_address_to(requested);
    }
    let page = referring_path(parts).filter(|path| is_own_path(path));
    let page = page.unwrap_or(requested);
    format!("{}&{ENDED}=yes", login_address_to(page))
}

fn login_address_to(wanted: &str) -> String {
    let mut address = "/login/?next=".to_owned();
    for (index, part) in wanted.split('/').enumerate() {
        if index > 0 {
            address.push('/');
        }
        encode(part, &mut address);
    }
    address
}
