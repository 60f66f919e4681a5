//! Panics in handlers: a 500 for the caller, place and message for the log, and a server that keeps
//! running.

use std::any::Any;
use std::cell::RefCell;
use std::fmt;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::pin::Pin;
use std::sync::Once;
use std::task::Poll;

use axum::response::{IntoResponse, Response};

use crate::Error;

thread_local! {
    /// The place of a panic that [`caught`] catches on this thread. `Some` only while a request is
    /// polled.
    static CAUGHT: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// A panic, as the cause of an error.
#[derive(Debug)]
struct PanicError {
    place: String,
    message: String,
}

impl fmt::Display for PanicError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "panicked at {}: {}", self.place, self.message)
    }
}

impl std::error::Error for PanicError {}

/// Sends every panic of the program to the log, with its place, instead of straight to standard
/// error. The program calls it once at its start, since the hook belongs to the whole process.
///
/// Panics in handlers are logged with their request instead, by [`crate::errors::render`].
pub fn install_hook() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| std::panic::set_hook(Box::new(report)));
}

fn report(panic: &PanicHookInfo<'_>) {
    let place = panic
        .location()
        .map(ToString::to_string)
        .unwrap_or_default();
    let is_caught = CAUGHT.with_borrow_mut(|caught| {
        caught
            .as_mut()
            .map(|caught| caught.clone_from(&place))
            .is_some()
    });
    if !is_caught {
        tracing::error!(place, message = message(panic.payload()), "panicked");
    }
}

/// The response, or [`Error::internal`] when the handler panics. The place is known if
/// [`install_hook`] was called.
pub(crate) async fn caught(mut answer: Pin<&mut impl Future<Output = Response>>) -> Response {
    poll_fn(move |context| {
        // Layers may be nested, so the outer layer's state is restored.
        let outer = CAUGHT.replace(Some(String::new()));
        let outcome = catch_unwind(AssertUnwindSafe(|| answer.as_mut().poll(context)));
        let place = CAUGHT.replace(outer).filter(|place| !place.is_empty());
        outcome.unwrap_or_else(|payload| {
            let place = place.unwrap_or_else(|| "an unknown place".to_owned());
            let cause = PanicError {
                place,
                message: message(payload.as_ref()),
            };
            Poll::Ready(Error::internal(cause).into_response())
        })
    })
    .await
}

/// The message, with long runs of digits masked, since it may contain values of the request.
fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message");
    mask_digits(text)
}

/// Replaces the digits of runs of six and more, with spaces and hyphens between, by `*`.
fn mask_digits(text: &str) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut run = String::new();
    for character in text.chars().chain(['\0']) {
        if character.is_ascii_digit() || (!run.is_empty() && matches!(character, ' ' | '-' | '.')) {
            run.push(character);
            continue;
        }
        let is_long = run.bytes().filter(u8::is_ascii_digit).count() >= 6;
        masked.extend(run.drain(..).map(|digit| {
            if is_long && digit.is_ascii_digit() {
                '*'
            } else {
                digit
            }
        }));
        masked.push(character);
    }
    masked.pop();
    masked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_runs_of_digits_are_masked() {
        assert_eq!(
            mask_digits("card 4111 1111-1111.1111 is 16 long"),
            "card **** ****-****.**** is 16 long"
        );
        assert_eq!(mask_digits("index 12 of 345"), "index 12 of 345");
        assert_eq!(mask_digits(""), "");
    }
}
