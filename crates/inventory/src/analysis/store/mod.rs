//! SQL for analyses: the queue of requests, results, calls to the model, and the history of sales.

pub(super) mod calls;
pub(super) mod history;
pub(super) mod queue;
pub(super) mod results;
pub(super) mod shop;
pub(super) mod terms;
