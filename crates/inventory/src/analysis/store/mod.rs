//! Statements of the analyses: the queue of requests, the results, the model's calls, and what was sold when.

pub(super) mod calls;
pub(super) mod history;
pub(super) mod queue;
pub(super) mod results;
pub(super) mod shop;
pub(super) mod terms;

pub use results::latest_suggestion;
