//! The list of payments, newest first, filtered by status and search text.

use std::sync::Arc;

use askama::Template;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State as Shared};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use web::page::{Layout, Page};

use super::words::{self, Word};
use crate::model::{Payment, Status};
use crate::state::State;

const PER_PAGE: usize = 25;

#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct Filter {
    q: String,
    status: String,
    page: String,
}

#[derive(Template)]
#[template(path = "sandbox/list.html")]
struct ListPage {
    layout: Layout,
    words: String,
    chips: Vec<Chip>,
    rows: Vec<Row>,
    total: usize,
    is_filtered: bool,
    newer: Option<String>,
    older: Option<String>,
}

struct Chip {
    text: &'static str,
    href: String,
    is_set: bool,
}

struct Row {
    id: u64,
    created: String,
    method: Word,
    description: String,
    reference: String,
    amount: String,
    status: Word,
}

pub(crate) async fn show(
    Shared(state): Shared<State>,
    query: Result<Query<Filter>, QueryRejection>,
    layout: Layout,
) -> Response {
    let Query(filter) = query.unwrap_or_default();
    let page = filter.page.parse().unwrap_or(1_usize).max(1);
    let (total, payments) = find(&state, &filter, page);
    let rows = payments
        .iter()
        .map(|payment| Row::of(payment, &layout))
        .collect();
    let has_older = page * PER_PAGE < total;
    Page::new(ListPage {
        chips: chips(&filter, &layout),
        rows,
        total,
        is_filtered: !filter.q.trim().is_empty() || !filter.status.is_empty(),
        newer: (page > 1).then(|| filter.href(&filter.status, page - 1)),
        older: has_older.then(|| filter.href(&filter.status, page + 1)),
        words: filter.q,
        layout,
    })
    .into_response()
}

/// The number of matching payments, and the payments of one page.
fn find(state: &State, filter: &Filter, page: usize) -> (usize, Vec<Arc<Payment>>) {
    let words = filter.q.trim().to_lowercase();
    let status = Status::of(&filter.status);
    let fits = |payment: &Payment| {
        status.is_none_or(|status| status == payment.status) && contains_words(payment, &words)
    };
    let store = state.store();
    let mut total = 0;
    let mut shown = Vec::new();
    for payment in store.payments().filter(|payment| fits(payment)) {
        if (page.saturating_sub(1) * PER_PAGE..page * PER_PAGE).contains(&total) {
            shown.push(Arc::clone(payment));
        }
        total += 1;
    }
    (total, shown)
}

/// Whether one of the payment's searchable texts contains `words`.
fn contains_words(payment: &Payment, words: &str) -> bool {
    let texts = [&payment.description, &payment.external_reference];
    words.is_empty()
        || payment.id.to_string().contains(words)
        || payment.payer.email.to_lowercase().contains(words)
        || payment.means.method_id().contains(words)
        || texts
            .into_iter()
            .flatten()
            .any(|text| text.to_lowercase().contains(words))
}

fn chips(filter: &Filter, layout: &Layout) -> Vec<Chip> {
    let all = Chip {
        text: layout.text("Todos", "All"),
        href: filter.href("", 1),
        is_set: filter.status.is_empty(),
    };
    let others = Status::ALL.into_iter().map(|status| Chip {
        text: words::status(layout.locale, status).text,
        href: filter.href(status.name(), 1),
        is_set: status.name() == filter.status,
    });
    std::iter::once(all).chain(others).collect()
}

impl Filter {
    /// The address of a page of the list with these words and this status.
    fn href(&self, status: &str, page: usize) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        query
            .append_pair("q", &self.q)
            .append_pair("status", status)
            .append_pair("page", &page.to_string());
        format!("/?{}", query.finish())
    }
}

impl Row {
    fn of(payment: &Payment, layout: &Layout) -> Self {
        let text = |text: &Option<Box<str>>| text.as_deref().unwrap_or_default().to_owned();
        Self {
            id: payment.id,
            created: layout.locale.date_time(payment.created.timestamp()),
            method: words::method(layout.locale, &payment.means),
            description: text(&payment.description),
            reference: text(&payment.external_reference),
            amount: layout.locale.money(payment.amount.money()),
            status: words::status(layout.locale, payment.status),
        }
    }
}
