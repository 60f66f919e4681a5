//! A provider made of a bare socket, which answers each call with the next of its replies.

use test_kit::stub;
pub(crate) use test_kit::stub::{Call, Reply, answer};

/// The stub. Its task ends with the test's runtime.
pub(crate) struct Stub(stub::Stub);

impl Stub {
    pub(crate) async fn start(replies: Vec<Reply>) -> Self {
        let mut replies = replies.into_iter();
        let behaviour = move |call: &Call| {
            if is_search_for_changes(call) {
                return Reply::Bytes(answer(200, "", br#"{"results":[]}"#));
            }
            replies.next().expect("a reply for every call")
        };
        Self(stub::Stub::start(behaviour).await)
    }

    pub(crate) fn url(&self) -> String {
        self.0.url()
    }

    pub(crate) fn calls(&self) -> Vec<Call> {
        let mut calls = self.0.calls();
        calls.retain(|call| !is_search_for_changes(call));
        calls
    }
}

/// The periodic search for changes is not part of the scripted replies.
fn is_search_for_changes(call: &Call) -> bool {
    call.path.contains("range=date_last_updated")
}
