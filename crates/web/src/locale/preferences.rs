//! Remembering the visitor's choices: the middleware that keeps `?lang=`, and the form of the
//! language and colour switches.

use std::time::Duration;

use axum::extract::{Form, Request};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};
use http::StatusCode;
use http::header::HeaderValue;
use http::request::Parts;
use utoipa::openapi::schema::ObjectBuilder;
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{Locale, Theme};
use crate::client::{Origin, check_origin};
use crate::openapi::text;
use crate::{Error, cookie};

/// The cookie that remembers the language: `pt-BR` or `en`.
pub const LANGUAGE_COOKIE: &str = "balcao_language";
/// The cookie that remembers the colour scheme: `auto`, `light` or `dark`.
pub const THEME_COOKIE: &str = "balcao_theme";

const LIFETIME: Duration = Duration::from_secs(365 * 86_400);

/// Middleware: keeps the language of an address with `?lang=` for the pages that follow.
pub async fn remember(request: Request, next: Next) -> Response {
    let is_https = Origin::known(request.extensions()).is_https;
    let choice = Locale::chosen(request.uri()).and_then(|locale| language_cookie(locale, is_https));
    let mut response = next.run(request).await;
    cookie::add(&mut response, choice);
    response
}

/// The address that the switches post to: `POST /preferences` with `lang`, `theme` and `next` (a
/// path of ours), each optional.
pub fn routes<S: Clone + Send + Sync + 'static>() -> OpenApiRouter<S> {
    OpenApiRouter::new().routes(routes!(choose))
}

/// What a reader may choose.
enum Preferences {}

impl PartialSchema for Preferences {
    fn schema() -> RefOr<Schema> {
        let members = ["lang", "theme", "next"];
        let form = members
            .into_iter()
            .fold(ObjectBuilder::new(), |form, name| {
                form.property(name, text())
            });
        form.into()
    }
}

impl ToSchema for Preferences {}

/// Remember language and theme
#[utoipa::path(
    post, path = "/preferences", tag = "Pages", operation_id = "choosePreferences", security(),
    request_body(content = Option<Preferences>, content_type = "application/x-www-form-urlencoded",
    example = json!({"lang": "pt-BR", "next": "/"})),
    responses(
        (status = 303, description = "The choice is stored; redirects to the page that the form was on.", headers(("Location"))),
    ),
)]
async fn choose(
    parts: Parts,
    Form(fields): Form<Vec<(String, String)>>,
) -> Result<Response, Error> {
    // A page of another site must not change the choice.
    check_origin(&parts)
        .map_err(|foreign| Error::new(StatusCode::FORBIDDEN, foreign.to_string()))?;
    let is_https = Origin::known(&parts.extensions).is_https;
    // When a field comes twice, the last value counts, as in every form.
    let field = |name: &str| {
        let found = fields.iter().rfind(|(field, _)| field == name);
        found.map(|(_, value)| value.as_str())
    };
    let language = field("lang").and_then(Locale::parse);
    let theme = field("theme").and_then(Theme::parse);
    let next = field("next")
        .filter(|next| is_own_path(next))
        .unwrap_or("/");
    // A language in the address would override the choice just made.
    let mut response = Redirect::to(&without(next, "lang")).into_response();
    let language = language.and_then(|locale| language_cookie(locale, is_https));
    cookie::add(&mut response, language);
    let theme =
        theme.and_then(|theme| cookie::remember(THEME_COOKIE, theme.name(), LIFETIME, is_https));
    cookie::add(&mut response, theme);
    Ok(response)
}

fn language_cookie(locale: Locale, is_https: bool) -> Option<HeaderValue> {
    cookie::remember(LANGUAGE_COOKIE, locale.tag(), LIFETIME, is_https)
}

/// Whether a redirect target stays on this site: a path, and nothing that browsers read as another
/// host.
pub fn is_own_path(target: &str) -> bool {
    let is_path = target.starts_with('/') && !target.starts_with("//");
    is_path
        && target
            .bytes()
            .all(|byte| byte.is_ascii_graphic() && byte != b'\\')
}

/// The path without this parameter.
pub(crate) fn without(path: &str, name: &str) -> String {
    let Some((path, query)) = path.split_once('?') else {
        return path.to_owned();
    };
    let kept: Vec<_> = query
        .split('&')
        .filter(|pair| pair.split('=').next() != Some(name))
        .collect();
    if kept.is_empty() {
        path.to_owned()
    } else {
        format!("{path}?{}", kept.join("&"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_of_this_site_are_redirect_targets() {
        for path in ["/", "/products/?q=a&lang=en", "/a//b"] {
            assert!(is_own_path(path), "{path}");
        }
        for target in [
            "",
            "//evil.example",
            "/\\evil.example",
            "https://evil.example",
            "javascript:alert(1)",
            "/a\r\nX: y",
            "/\t/evil.example",
        ] {
            assert!(!is_own_path(target), "{target:?}");
        }
    }

    #[test]
    fn a_choice_is_not_undone_by_the_address_it_comes_from() {
        assert_eq!(without("/a?lang=en", "lang"), "/a");
        assert_eq!(without("/a?b=1&lang=en&c=2", "lang"), "/a?b=1&c=2");
        assert_eq!(without("/a", "lang"), "/a");
    }
}
