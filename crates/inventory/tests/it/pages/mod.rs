//! The pages of the web interface as plain HTTP gives them: their frame, what each reader is
//! offered, forms and what becomes of them.

mod adjusting;
pub(crate) mod booking;
mod counts;
pub(crate) mod files;
mod lists;
mod new_names;
mod offers;
mod receiving;
mod records;
mod round_trip;
mod shell;
mod views;

use crate::{app::Answer, visitor::Visitor};

/// A page of this status, held against the rules of strict HTML.
pub(crate) async fn page(visitor: &Visitor<'_>, path: &str, status: u16) -> String {
    let answer = visitor.get(path).await;
    assert_eq!(answer.status, status, "{path}: {answer:?}");
    test_kit::html::check(&answer.text);
    answer.text
}

/// Fails unless the answer leads there.
#[track_caller]
pub(crate) fn leads_to(answer: &Answer, address: &str) {
    let found = (answer.status, answer.header("location"));
    assert_eq!(found, (303, address), "{answer:?}");
}

/// Fails unless a form is shown again, saying these.
#[track_caller]
pub(crate) fn is_refused(answer: &Answer, said: &[&str]) {
    assert_eq!(answer.status, 422, "{answer:?}");
    test_kit::html::check(&answer.text);
    assert!(answer.text.contains("role=\"alert\""));
    for words in said {
        assert!(answer.text.contains(words), "{words}: {}", answer.text);
    }
}
