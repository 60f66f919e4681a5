//! Errors as pages: what happened, what to do next, and the request id for whoever asks for help.

use askama::Template;
use axum::response::{IntoResponse, Response};
use http::StatusCode;

use super::{Facts, Public, Render};
use crate::assets::Assets;
use crate::page::{Layout, Page};

/// Renders errors as pages in the reader's language.
#[derive(Clone, Debug)]
pub struct Pages(Assets);

impl Pages {
    /// A renderer whose pages take their styles from `assets`.
    pub const fn new(assets: Assets) -> Self {
        Self(assets)
    }
}

#[derive(Template)]
#[template(path = "errors/error.html")]
struct ErrorPage {
    layout: Layout,
    status: StatusCode,
    icon: &'static str,
    title: &'static str,
    advice: &'static str,
    /// Seconds to wait, where the answer knows them.
    wait: Option<String>,
}

impl Render for Pages {
    fn render(&self, error: &Public, request: &Facts) -> Response {
        let layout = Layout::of(request, self.0.clone());
        let (title, advice) = words(error.status);
        let wait = error
            .headers
            .get(http::header::RETRY_AFTER)
            .and_then(|value| value.to_str().ok())
            .map(str::to_owned);
        let page = ErrorPage {
            icon: icon(error.status),
            title: layout.text(title.0, title.1),
            advice: layout.text(advice.0, advice.1),
            status: error.status,
            wait,
            layout,
        };
        Page::with_status(error.status, page).into_response()
    }
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
                "Já registramos o ocorrido. Tente de novo; se continuar, informe o código abaixo a quem administra o sistema.",
                "It has been recorded. Try again; if it goes on, tell the code below to whoever runs the system.",
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
