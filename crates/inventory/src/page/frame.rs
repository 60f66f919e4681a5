//! The frame of every page: the user, the CSRF token, the navigation, and flash messages. It is an
//! extractor, which redirects users without a session to the login before a handler runs.

use std::{ops::Deref, sync::Arc};

use askama::Template;
use axum::{
    extract::FromRequestParts,
    response::{IntoResponse as _, Response},
};
use http::{HeaderValue, StatusCode, Uri, header::LOCATION, request::Parts};
use resource::{Both, Field};
use web::{
    client::Origin,
    cookie::HostOnly,
    page::{Layout, Page},
};

use super::{
    PageState,
    flash::{self, Flash},
    login_address,
    places::{self, PlaceLink},
    redirect, shortcuts,
    visits::Visit,
};
use crate::{
    State,
    access::{Caller, Model, Permission, Verb},
    accounts::{
        csrf,
        session::{SavedView, Session, cookies},
    },
    rest::{
        Refusal,
        query::{Parameters, with_query},
    },
};

/// The frame of one page, and the state and the session that its handler works with. Dereferences
/// to its [`Layout`], so that templates can write `frame.text("…", "…")`.
pub(crate) struct Frame {
    pub(crate) state: State,
    /// Language, colours, assets, and the page's address.
    pub(crate) layout: Layout,
    pub(crate) caller: Caller,
    pub(crate) session: Arc<Session>,
    /// The CSRF token for the form field `csrfmiddlewaretoken`.
    pub(crate) csrf: String,
    /// The flash message to show.
    pub(crate) flash: Option<Flash>,
    pub(crate) has_shortcuts: bool,
    pub(crate) is_https: bool,
    saved_address: fn(&str) -> Option<String>,
    secret: csrf::Secret,
}

impl Deref for Frame {
    type Target = Layout;

    fn deref(&self) -> &Layout {
        &self.layout
    }
}

impl FromRequestParts<PageState> for Frame {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, page: &PageState) -> Result<Self, Response> {
        let Ok(layout) = Layout::from_request_parts(parts, page).await;
        Self::of(parts, layout, page).ok_or_else(|| redirect(&login_address(parts)))
    }
}

impl Frame {
    /// The frame for a request. `None` if the user has not logged in.
    pub(crate) fn of(parts: &Parts, layout: Layout, page: &PageState) -> Option<Self> {
        let random = &page.state.random;
        let visit = Visit::of(&parts.extensions);
        let caller = visit.caller().cloned()?;
        let secret = visit.secret(HostOnly::of(parts), random);
        Some(Self {
            csrf: secret.masked(random),
            flash: flash::read(parts),
            has_shortcuts: shortcuts::are_on(&parts.headers),
            is_https: Origin::known(&parts.extensions).is_https,
            saved_address: page.saved_address,
            state: page.state.clone(),
            session: visit.0?,
            layout,
            caller,
            secret,
        })
    }

    /// Renders a page: 200.
    pub(crate) fn show(&self, template: impl Template) -> Response {
        self.show_with(StatusCode::OK, template)
    }

    /// Renders a form with its values and errors: 422.
    pub(crate) fn show_again(&self, template: impl Template) -> Response {
        self.show_with(StatusCode::UNPROCESSABLE_ENTITY, template)
    }

    /// Renders a page with a form: 422 if it was refused.
    pub(crate) fn show_form(&self, is_refused: bool, template: impl Template) -> Response {
        if is_refused {
            self.show_again(template)
        } else {
            self.show(template)
        }
    }

    pub(crate) fn show_with(&self, status: StatusCode, template: impl Template) -> Response {
        let mut response = Page::with_status(status, template).into_response();
        cookies::show_secret(&mut response, &self.secret, self.is_https);
        if self.flash.is_some() {
            flash::forget(&mut response, self.is_https);
        }
        response
    }

    /// Whether the user has this permission. Pages hide the actions that a user lacks permission
    /// for.
    pub(crate) fn may(&self, verb: Verb, model: Model) -> bool {
        self.caller.may(Permission::new(verb, model))
    }

    /// Whether the search offers products to the user.
    pub(crate) fn finds_products(&self) -> bool {
        self.may(Verb::View, Model::Product)
    }

    /// Whether the user is offered to add a product.
    pub(crate) fn adds_products(&self) -> bool {
        self.may(Verb::Add, Model::Product)
    }

    /// Fails with a page that names the permission if the user lacks it.
    pub(crate) fn require(&self, verb: Verb, model: Model) -> Result<(), Refusal> {
        let permission = Permission::new(verb, model);
        if self.caller.may(permission) {
            Ok(())
        } else {
            Err(Refusal::Missing(permission))
        }
    }

    /// Whether a checkout is configured, whose orders and payments can be shown.
    pub(crate) fn has_checkout(&self) -> bool {
        self.state.checkout.is_some()
    }

    /// A new once-only token for a form that creates something.
    pub(crate) fn once_only_token(&self) -> String {
        self.state.random.token()
    }

    pub(crate) fn places(&self) -> Vec<PlaceLink> {
        places::shown(self)
    }

    /// The address under which a list is saved as a view. `None` if it cannot be saved.
    pub(crate) fn saved_address(&self, address: &str) -> Option<String> {
        (self.saved_address)(address)
    }

    pub(crate) fn views(&self) -> &[SavedView] {
        &self.session.views
    }

    /// The paths of the movements that the user may book, for the keyboard shortcuts.
    pub(crate) fn books(&self) -> String {
        let ways = [("inflows", Model::Inflow), ("outflows", Model::Outflow)];
        let may = ways
            .into_iter()
            .filter(|(_, model)| self.may(Verb::Add, *model));
        may.map(|(path, _)| path).collect::<Vec<_>>().join(" ")
    }

    /// The text in the user's language.
    pub(crate) fn say(&self, text: Both) -> &'static str {
        self.layout.locale.say(text)
    }

    pub(crate) fn label(&self, field: &Field) -> &'static str {
        self.say(field.label)
    }

    /// The first segment of the path, which identifies the section of the navigation.
    pub(crate) fn section(&self) -> &str {
        self.address()
            .trim_matches('/')
            .split('/')
            .next()
            .unwrap_or_default()
    }

    /// The user's name at the login.
    pub(crate) fn username(&self) -> &str {
        &self.caller.username
    }

    /// The address of a form's cancel link: the page that opened the form (`next`), otherwise the
    /// parent path.
    pub(crate) fn back(&self, next: &str) -> String {
        if let Some(next) = own_next(next) {
            return next.to_owned();
        }
        let path = self.address().trim_end_matches('/');
        let above = path.rsplit_once('/').map_or("", |(above, _)| above);
        format!("{above}/")
    }

    /// The path of this page without the query.
    pub(crate) fn address(&self) -> &str {
        self.layout.path.split('?').next().unwrap_or("/")
    }
}

/// The address of the page that opened a form (`next`). `None` if it is not a path of this service.
pub(crate) fn own_next(next: &str) -> Option<&str> {
    Some(next.trim()).filter(|next| web::locale::is_own_path(next))
}

/// The address of the page that opened a form, with the new record chosen in its field `name`.
pub(crate) fn picked_next(next: &str, name: &str, id: i64) -> Option<String> {
    let next = own_next(next)?;
    let (path, query) = next.split_once('?').unwrap_or((next, ""));
    let mut parameters = Parameters::parse(query);
    if path.ends_with("/new/") || path.ends_with("/edit/") {
        parameters.set(name, id.to_string());
    }
    Some(with_query(path, &parameters.written()))
}

/// Redirects with 303 to a path of this service, after a successful form.
pub(crate) fn see_other(address: &str) -> Response {
    let is_ours = address.parse::<Uri>().is_ok() && web::locale::is_own_path(address);
    let location = HeaderValue::from_str(address)
        .ok()
        .filter(|_| is_ours)
        .unwrap_or(HeaderValue::from_static("/"));
    (StatusCode::SEE_OTHER, [(LOCATION, location)]).into_response()
}
