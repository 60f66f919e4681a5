//! Errors as pages: what happened, what to do next, and the request id for people who ask for help.

use askama::Template;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http::header::RETRY_AFTER;
use serde_json::Value;

use super::{Facts, Public, Render};
use crate::assets::Assets;
use crate::locale::Locale;
use crate::page::{Layout, Page};
use crate::security::{self, Policy};

/// Renders errors as pages in the reader's language.
#[derive(Clone, Debug)]
pub struct Pages(Assets);

impl Pages {
    /// A renderer whose pages take their styles from `assets`.
    pub const fn new(assets: Assets) -> Self {
        Self(assets)
    }
}

/// Renders errors as pages for clients that accept HTML by name, and by another renderer for all
/// others. For addresses that people and programs share, such as unknown ones.
#[derive(Clone, Debug)]
pub struct ForReaders<P, R>(P, R);

impl<P, R> ForReaders<P, R> {
    /// Pages for browsers, `programs` for everybody else.
    pub const fn new(pages: P, programs: R) -> Self {
        Self(pages, programs)
    }
}

impl<P: Render, R: Render> Render for ForReaders<P, R> {
    fn render(&self, error: &Public, request: &Facts) -> Response {
        let Self(pages, programs) = self;
        if !request.wants_page {
            return programs.render(error, request);
        }
        let mut response = pages.render(error, request);
        security::allow(Policy::Pages, &mut response);
        response
    }
}

/// What a page says of an error, in the reader's language.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// The icon that goes with it.
    pub icon: &'static str,
    /// What happened.
    pub title: &'static str,
    /// What to do: the hint or the advice of the error, where it has one.
    pub advice: String,
    /// When to try again, where the answer knows it.
    pub wait: Option<String>,
    /// Whether a list has fewer pages than the address asks for.
    pub is_past_end: bool,
}

impl Explanation {
    /// The words for an error.
    pub fn of(error: &Public, locale: Locale) -> Self {
        let is_past_end = error.detail == PAST_END;
        let (title, advice) = if is_past_end {
            NO_SUCH_PAGE
        } else {
            words(error.status)
        };
        let seconds = error.headers.get(RETRY_AFTER);
        let seconds = seconds.and_then(|value| value.to_str().ok()?.parse().ok());
        let hint = error.extra.get("hint").and_then(Value::as_str);
        Self {
            icon: icon(error.status),
            title: locale.say(title),
            advice: hint
                .unwrap_or(locale.say(error.advice.unwrap_or(advice)))
                .to_owned(),
            wait: seconds.map(|seconds| wait(seconds, locale)),
            is_past_end,
        }
    }
}

#[derive(Template)]
#[template(path = "errors/error.html")]
struct ErrorPage {
    layout: Layout,
    status: StatusCode,
    explanation: Explanation,
}

impl Render for Pages {
    fn render(&self, error: &Public, request: &Facts) -> Response {
        let layout = request.layout(self.0.clone());
        let page = ErrorPage {
            explanation: Explanation::of(error, layout.locale),
            status: error.status,
            layout,
        };
        Page::with_status(error.status, page).into_response()
    }
}

/// "Tente de novo em 37 segundos": in whole minutes where seconds would be counted for long.
fn wait(seconds: u64, locale: Locale) -> String {
    let (count, one, many) = match seconds {
        0..120 => (seconds, ("segundo", "second"), ("segundos", "seconds")),
        120..7200 => (
            seconds.div_ceil(60),
            ("minuto", "minute"),
            ("minutos", "minutes"),
        ),
        _ => (seconds.div_ceil(3600), ("hora", "hour"), ("horas", "hours")),
    };
    let unit = if count == 1 { one } else { many };
    let again = locale.text("Tente de novo em", "Try again in");
    format!("{again} {count} {}.", locale.say(unit))
}

/// The icon that goes with a status.
fn icon(status: StatusCode) -> &'static str {
    match status {
        StatusCode::NOT_FOUND => "search",
        StatusCode::TOO_MANY_REQUESTS => "clock",
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => "lock",
        _ => "alert",
    }
}

/// The detail of an error about a page that a list does not have.
pub const PAST_END: &str = "Invalid page.";

const NO_SUCH_PAGE: Words = (
    (
        "Esta lista não tem esta página",
        "This list does not have this page",
    ),
    (
        "Ela ficou mais curta, ou o endereço não está certo.",
        "It has become shorter, or the address is wrong.",
    ),
);

type Words = ((&'static str, &'static str), (&'static str, &'static str));

/// Title and advice by status, each in Portuguese and English.
fn words(status: StatusCode) -> Words {
    match status {
        StatusCode::NOT_FOUND => (
            ("Página não encontrada", "Page not found"),
            (
                "Confira o endereço ou volte ao início. O registro pode ter sido removido.",
                "Check the address or go back to the start. The record may have been removed.",
            ),
        ),
        StatusCode::TOO_MANY_REQUESTS => (
            ("Muitas solicitações", "Too many requests"),
            (
                "Houve muitas solicitações em pouco tempo. Nada se perdeu.",
                "There were too many requests in a short time. Nothing was lost.",
            ),
        ),
        StatusCode::FORBIDDEN => (
            ("Acesso negado", "Access denied"),
            (
                "Sua conta não tem permissão para isto.",
                "Your account does not have permission for this.",
            ),
        ),
        StatusCode::METHOD_NOT_ALLOWED => (
            (
                "Esta página não pode ser aberta assim",
                "This page cannot be opened this way",
            ),
            (
                "Ela só recebe o que um formulário ou um programa envia. Volte e use o botão da página.",
                "It only accepts data sent by a form or a program. Go back and use the button on the page.",
            ),
        ),
        StatusCode::REQUEST_TIMEOUT => (
            ("O envio demorou demais", "Sending took too long"),
            (
                "Confira a sua conexão e tente de novo.",
                "Check your connection and try again.",
            ),
        ),
        StatusCode::PAYLOAD_TOO_LARGE => (
            ("Conteúdo grande demais", "Content too large"),
            ("Envie um conteúdo menor.", "Send something smaller."),
        ),
        StatusCode::SERVICE_UNAVAILABLE | StatusCode::BAD_GATEWAY => (
            ("Serviço indisponível", "Service unavailable"),
            (
                "Tente de novo em alguns instantes.",
                "Try again in a moment.",
            ),
        ),
        status if status.is_server_error() => (
            (
                "Algo deu errado do nosso lado",
                "Something went wrong on our side",
            ),
            (
                "O erro foi registrado. Tente de novo; se continuar, informe o código abaixo a quem administra o sistema.",
                "The error has been recorded. Try again; if it happens again, give the code below to your administrator.",
            ),
        ),
        _ => (
            (
                "Não foi possível atender ao pedido",
                "The request could not be handled",
            ),
            ("Volte e tente de novo.", "Go back and try again."),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_are_told_how_long_to_wait_in_numbers_that_they_can_hold() {
        for (seconds, portuguese, english) in [
            (1, "Tente de novo em 1 segundo.", "Try again in 1 second."),
            (
                60,
                "Tente de novo em 60 segundos.",
                "Try again in 60 seconds.",
            ),
            (
                121,
                "Tente de novo em 3 minutos.",
                "Try again in 3 minutes.",
            ),
            (7200, "Tente de novo em 2 horas.", "Try again in 2 hours."),
        ] {
            assert_eq!(wait(seconds, Locale::PtBr), portuguese);
            assert_eq!(wait(seconds, Locale::En), english);
        }
    }
}
