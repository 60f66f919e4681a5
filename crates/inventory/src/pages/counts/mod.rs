//! The pages of counts: their texts, the differences before they are booked, and a booked count.
//! The common pages of documents are in `documents`; `start` begins a count, `form` edits the
//! draft.

mod form;
mod start;

use askama::Template;
use axum::response::Response;

use super::documents::{self, DocumentPages, products};
use crate::{
    access::{Model, Verb},
    page::{
        FormSubmission, Frame, PageResult, redirect,
        routes::{PageRouter, get},
        see_other,
    },
    rest::RecordId,
    stock::{
        counts::model::{CountedLine, compared, cost, differing, fingerprint},
        documents::{Document, DocumentKind, DocumentLine, DocumentOutcome},
    },
};

/// The texts and rules of the pages of counts.
static ABOUT: DocumentPages = DocumentPages {
    kind: DocumentKind::Count,
    path: "/counts/",
    icon: "count",
    title: ("Contagem de estoque", "Stock count"),
    lead: (
        "Conte o que há, veja as diferenças e só então acerte o estoque. O que não for contado fica como está.",
        "Count what is there, see the differences, and only then correct the stock. Products that you do not count stay as they are.",
    ),
    begin: ("Nova contagem", "New count"),
    names: ("Contagem", "Count"),
    booked_last: ("Últimas contagens", "Last counts"),
    undone: (
        "Contagem desfeita: as diferenças saíram do estoque. A lista voltou aos rascunhos de quem a fez.",
        "Count undone: its differences were reversed. Its list is back among the drafts of the person who made it.",
    ),
    makers: (Verb::Change, Model::Product),
    undoers: (Verb::Change, Model::Product),
    name: |_, count| count.label.clone(),
    size: |frame, count| of_all(frame, count.counted, count.products),
    whole_name: |frame, count| format!("{} · {}", count.label, progress(frame, count)),
    page: |frame, status, count, problem| {
        frame.show_with(status, CountPage::of(frame, count, problem.to_owned()))
    },
};

/// `/counts/` and the paths below it.
pub(crate) fn routes() -> PageRouter {
    documents::routes(&ABOUT)
        .route("/counts/new/", get(start::open).post(start::begin))
        .route("/counts/{id}/edit/", get(form::edit).post(form::change))
        .route("/counts/{id}/review/", get(review).post(book))
}

fn review_address(id: i64) -> String {
    format!("/counts/{id}/review/")
}

fn number(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// `12 de 23 produtos contados`
fn of_all(frame: &Frame, counted: i64, all: i64) -> String {
    format!(
        "{} {} {} {}",
        frame.locale.number(counted),
        frame.text("de", "of"),
        products(frame, all),
        frame.text(if all == 1 { "contado" } else { "contados" }, "counted")
    )
}

fn progress(frame: &Frame, count: &Document) -> String {
    let counted = count.lines.iter().filter(|line| line.quantity.is_some());
    of_all(frame, number(counted.count()), number(count.lines.len()))
}

/// A counted line as the page shows it.
struct CountRow<'a> {
    compared: CountedLine<'a>,
    difference: String,
    /// The movements since the line was counted. Empty if there were none.
    since: String,
    /// The stock after the count is booked. Empty if it is booked, or if the product was deleted.
    after: String,
}

impl<'a> CountRow<'a> {
    fn of(frame: &Frame, compared: CountedLine<'a>, is_draft: bool) -> Self {
        let since = compared.since().filter(|since| is_draft && *since != 0);
        let after = compared.after().filter(|_| is_draft);
        Self {
            difference: frame.locale.signed(compared.difference()),
            since: since.map_or_else(String::new, |since| {
                let text = frame.text("movimentado desde então:", "moved since then:");
                format!("{text} {}", frame.locale.signed(since))
            }),
            after: after.map_or_else(String::new, |after| frame.locale.number(after)),
            compared,
        }
    }
}

/// The page of a draft's differences, or of a booked count.
#[derive(Template)]
#[template(path = "stock/count.html")]
struct CountPage<'a> {
    frame: &'a Frame,
    count: &'a Document,
    rows: Vec<CountRow<'a>>,
    /// The lines whose count agrees with the ledger.
    agreeing: Vec<&'a DocumentLine>,
    uncounted: Vec<&'a DocumentLine>,
    progress: String,
    /// The value of the differences; empty if unknown.
    cost: String,
    seen: String,
    when: String,
    may_undo: bool,
    /// Why the count was not booked or not undone.
    problem: String,
}

impl<'a> CountPage<'a> {
    fn of(frame: &'a Frame, count: &'a Document, problem: String) -> Self {
        // Lines are stored with the last added first. This page shows them in the order of the
        // list.
        let lines = || count.lines.iter().rev();
        let is_draft = !count.is_booked();
        let all = lines().filter_map(CountedLine::of);
        let (agreeing, differing): (Vec<_>, Vec<_>) =
            all.partition(|compared| compared.difference() == 0);
        let uncounted = lines().filter(|line| line.quantity.is_none());
        let booked_at = count.booked_at;
        Self {
            frame,
            count,
            rows: differing
                .into_iter()
                .map(|compared| CountRow::of(frame, compared, is_draft))
                .collect(),
            agreeing: agreeing.iter().map(|compared| compared.line).collect(),
            uncounted: uncounted.collect(),
            progress: progress(frame, count),
            cost: cost(&count.lines).map_or_else(String::new, |cost| frame.locale.money(cost)),
            seen: fingerprint(&count.lines),
            when: booked_at.map_or_else(String::new, |at| frame.locale.date_time(at)),
            may_undo: ABOUT.may_undo(frame),
            problem,
        }
    }
}

fn differences(frame: &Frame, count: usize) -> String {
    let word = match count {
        0 => return frame.text("Nenhuma diferença", "No differences").to_owned(),
        1 => frame.text("diferença", "difference"),
        _ => frame.text("diferenças", "differences"),
    };
    format!("{} {word}", frame.locale.number(count))
}

/// `3 diferenças · 9 conferem`
fn sums(frame: &Frame, count: &Document) -> String {
    let all = compared(&count.lines).count();
    let differing = differing(&count.lines).count();
    let agree = if all - differing == 1 {
        frame.text("confere", "agrees")
    } else {
        frame.text("conferem", "agree")
    };
    format!(
        "{} · {} {agree}",
        differences(frame, differing),
        frame.locale.number(all - differing)
    )
}

/// `GET /counts/{id}/review/`
async fn review(frame: Frame, id: RecordId) -> PageResult {
    let count = ABOUT.find(&frame, id).await?;
    if count.is_booked() {
        return Ok(redirect(&ABOUT.address(count.id)));
    }
    Ok(frame.show(CountPage::of(&frame, &count, String::new())))
}

/// `POST /counts/{id}/review/`
async fn book(frame: Frame, id: RecordId, mut post: FormSubmission) -> PageResult {
    let id = ABOUT.find(&frame, id).await?.id;
    let key = post.idempotency_key(&frame, "counts");
    let (who, seen) = ((&frame.caller, frame.locale), post.text("seen"));
    let booked = crate::stock::counts::book(&frame.state, who, id, seen, key).await;
    match booked.map(|saved| saved.outcome) {
        Ok(DocumentOutcome::Booked) => {
            let count = ABOUT.find(&frame, RecordId(Some(id))).await?;
            let text = frame.text("Contagem registrada", "Count recorded");
            let text = format!("{text}: {}.", sums(&frame, &count));
            Ok(ABOUT.booked(&frame, id, text))
        }
        Ok(DocumentOutcome::Undone) => Ok(ABOUT.undone_before(&frame, id)),
        Ok(DocumentOutcome::Draft(_)) => Ok(see_other(&review_address(id))),
        Err(refusal) => {
            post.form.take(refusal, frame.locale)?;
            // The page now shows the current differences, so submitting it again confirms them.
            let count = ABOUT.find(&frame, RecordId(Some(id))).await?;
            Ok(frame.show_again(CountPage::of(&frame, &count, post.form.problem)))
        }
    }
}

fn to_draft(id: i64) -> Response {
    see_other(&ABOUT.draft_address(id))
}
