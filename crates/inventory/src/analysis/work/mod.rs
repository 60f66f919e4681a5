//! Processes one request of the queue: claims it, computes the figures, has a text written, and
//! stores the result.
//!
//! If the process dies in between, the request becomes due again. The lease ensures that two
//! processes never store two results for one request. Never runs within an HTTP request.

mod worker;

use std::time::Duration;

use db::Timestamp;
use serde_json::json;
use tokio::time::Instant;

pub(crate) use worker::run;

use super::{
    assess::{RestockSettings, assess},
    language_model::{self, ModelUsage, Narrative, PROMPT_VERSION},
    payload::AnalysisPayload,
    result::{Provenance, Source},
    store::{
        history::{self, AnalysedProduct},
        queue::{self, ClaimedRequest},
        results::{self, NewAnalysis},
    },
    text::AnalysisText,
};
use crate::{
    State,
    digest::digest,
    events::{self, EventType},
    rest::json::Titled,
    work::{Policy, lock_product},
};

/// Due requests that are read per claim. Other workers may claim the first ones.
const CANDIDATES: i64 = 8;
/// The lease is longer than the model's longest time by this much, for the database.
const LEASE_MARGIN: Duration = Duration::from_secs(60);

/// The outcome of working on one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkOutcome {
    /// No request was due.
    Idle,
    /// The analysis of this id was stored.
    Analysed(i64),
    /// The model failed temporarily. The request is due again at this time.
    RetryAt(Timestamp),
    /// The product was analysed recently. The request is due again at this time, after the
    /// cool-down.
    CoolingDown(Timestamp),
    /// The request was dropped: the product was deleted, or is not low any more.
    Dropped,
    /// The lease was lost to another worker.
    LeaseLost,
}

impl WorkOutcome {
    /// This outcome, if the lease was held until then.
    const fn if_ours(self, is_ours: bool) -> Self {
        if is_ours { self } else { Self::LeaseLost }
    }
}

#[derive(Debug, Clone)]
struct Claim {
    request: ClaimedRequest,
    lease: String,
    is_postponed: bool,
}

/// Claims one request that is due and processes it. If that fails, the request is due again when
/// the lease ends.
pub async fn work_once(state: &State) -> Result<WorkOutcome, db::Error> {
    match claim_next(state).await? {
        None => Ok(WorkOutcome::Idle),
        Some(claim) => work(state, claim).await,
    }
}

/// Same as [`work_once`] for the request of one product, if it is due.
pub async fn work_on_product(state: &State, product: i64) -> Result<WorkOutcome, db::Error> {
    match claim(state, product).await? {
        None => Ok(WorkOutcome::Idle),
        Some(claim) => work(state, claim).await,
    }
}

/// Claims a request that is due, those of users first.
async fn claim_next(state: &State) -> Result<Option<Claim>, db::Error> {
    let now = state.clock.now();
    let due = async move |conn: &mut db::Conn| queue::due(conn, now, CANDIDATES).await;
    for product in state.db.read::<_, db::Error, _>(due).await? {
        if let Some(claim) = claim(state, product).await? {
            return Ok(Some(claim));
        }
    }
    Ok(None)
}

/// Claims the request of a product. `None` if it is not due or another worker has claimed it.
async fn claim(state: &State, product: i64) -> Result<Option<Claim>, db::Error> {
    let now = state.clock.now();
    let model = state.analysis.model.as_ref();
    let max_duration = model.map(language_model::ConfiguredModel::max_duration);
    let until = now + max_duration.unwrap_or_default() + LEASE_MARGIN;
    let lease = state.replica.lease(&state.random.token());
    let claim = {
        let lease = lease.clone();
        async move |tx: &mut db::Tx| {
            let before = queue::find(tx, product).await?;
            let request = queue::claim(tx, product, &lease, until, now).await?;
            Ok::<_, db::Error>(request.zip(before))
        }
    };
    let claimed = state.db.write(claim).await?;
    Ok(claimed.map(|(request, before)| Claim {
        is_postponed: request.tries == 0
            && before.due_at > before.requested_at
            && !before.is_claimed,
        request,
        lease,
    }))
}

async fn work(state: &State, claim: Claim) -> Result<WorkOutcome, db::Error> {
    let started = Instant::now();
    let now = state.clock.now();
    let id = claim.request.product;
    let read = async move |conn: &mut db::Conn| {
        let product = history::product(conn, id).await?;
        Ok::<_, db::Error>((product, results::newest(conn, id).await?))
    };
    let (Some(product), newest) = state.db.read(read).await? else {
        return Ok(WorkOutcome::Dropped);
    };
    let threshold = Policy::from(&state.config).threshold_of(product.threshold);
    if claim.request.asked_by.is_none() && claim.request.tries == 0 {
        if claim.is_postponed && product.quantity >= threshold {
            return postpone(state, claim, None, WorkOutcome::Dropped).await;
        }
        let cool_at = newest.map(|newest| newest.created_at + state.config.analysis.cooldown);
        if let Some(cool_at) = cool_at.filter(|cool_at| *cool_at > now) {
            let outcome = WorkOutcome::CoolingDown(cool_at);
            return postpone(state, claim, Some(cool_at), outcome).await;
        }
    }
    let (settings, products) = (RestockSettings::from(&state.config), vec![product.clone()]);
    let read = async move |conn: &mut db::Conn| assess(conn, settings, &products, now).await;
    let Some(figures) = state.db.read::<_, db::Error, _>(read).await?.pop() else {
        return Ok(WorkOutcome::Dropped);
    };
    let text = AnalysisText {
        locale: state.config.language,
        title: &product.title,
        figures: &figures,
        now,
    };
    let mut usage = ModelUsage::default();
    let tries = claim.request.tries;
    let narrative = match &state.analysis.model {
        None => Narrative::FromFormula("no_model"),
        Some(model) => language_model::narrate(state, model, &text, tries, &mut usage).await?,
    };
    let written = match narrative {
        Narrative::Retry(due) => {
            let put_back = async move |tx: &mut db::Tx| {
                let is_ours = queue::put_back(tx, id, &claim.lease, due, tries + 1).await?;
                Ok(WorkOutcome::RetryAt(due).if_ours(is_ours))
            };
            return state.db.write(put_back).await;
        }
        Narrative::FromModel(written) => (Source::Model, "worded", text.with_model_text(&written)),
        Narrative::FromFormula(outcome) => (Source::Formula, outcome, text.computed()),
    };
    let duration = started.elapsed();
    let new = new_analysis(state, &claim.request, &text, written, usage, duration);
    store_analysis(state, claim, product, new).await
}

fn new_analysis(
    state: &State,
    request: &ClaimedRequest,
    text: &AnalysisText<'_>,
    (source, outcome, result): (Source, &'static str, String),
    usage: ModelUsage,
    duration: Duration,
) -> NewAnalysis {
    let metrics = &state.analysis.metrics;
    metrics.count_analysis(source.name(), outcome);
    // Serialising plain numbers cannot fail.
    let figures = serde_json::to_string(text.figures).unwrap_or_default();
    let inputs = json!([PROMPT_VERSION, request.product, text.title, figures]).to_string();
    let model = state.analysis.model.as_ref();
    NewAnalysis {
        product: Some(request.product),
        result,
        suggested_quantity: text.figures.suggested_quantity(),
        figures,
        provenance: Provenance {
            source,
            outcome: outcome.to_owned(),
            language: text.locale.tag().to_owned(),
            model: model.map(|model| model.name().to_owned()),
            prompt_version: model.map(|_| PROMPT_VERSION.to_owned()),
            inputs_digest: digest(&inputs),
            duration_ms: i64::try_from(duration.as_millis()).unwrap_or(i64::MAX),
            prompt_tokens: usage.prompt_tokens,
            completion_tokens: usage.completion_tokens,
            finish_reason: usage.finish_reason,
            asked_by: request.asked_by.clone(),
        },
    }
}

/// Stores the analysis, publishes its event and deletes the request, unless the lease was lost.
async fn store_analysis(
    state: &State,
    claim: Claim,
    product: AnalysedProduct,
    new: NewAnalysis,
) -> Result<WorkOutcome, db::Error> {
    let now = state.clock.now();
    let cool_at = now + state.config.analysis.cooldown;
    let threshold = Policy::from(&state.config).threshold_of(product.threshold);
    let write = async move |tx: &mut db::Tx| {
        // A sale whose event has a lower id commits first, so that events are delivered in order.
        lock_product(tx, product.id).await?;
        if !queue::remove(tx, product.id, &claim.lease).await? {
            return Ok(WorkOutcome::LeaseLost);
        }
        let id = results::insert(tx, &new, now).await?;
        let data = AnalysisPayload {
            id,
            result: &new.result,
            created_at: now,
            product: Titled {
                id: product.id,
                title: product.title.clone(),
            },
            suggested_quantity: new.suggested_quantity,
        };
        events::publish(tx, EventType::AnalysisCreated, product.id, data, now).await?;
        // Sales during the analysis could not add a request, because this one was in the queue.
        let current = history::product(tx, product.id).await?;
        if current.is_some_and(|current| {
            current.quantity != product.quantity && current.quantity < threshold
        }) {
            queue::requeue(tx, product.id, cool_at, now).await?;
        }
        Ok(WorkOutcome::Analysed(id))
    };
    state.db.write(write).await
}

/// Puts off an automatic request, or drops it without a time.
async fn postpone(
    state: &State,
    claim: Claim,
    due: Option<Timestamp>,
    outcome: WorkOutcome,
) -> Result<WorkOutcome, db::Error> {
    let now = state.clock.now();
    let postpone = async move |tx: &mut db::Tx| {
        let product = claim.request.product;
        let is_ours = queue::postpone(tx, product, &claim.lease, due, now).await?;
        Ok(outcome.if_ours(is_ours))
    };
    state.db.write(postpone).await
}
