//! How a request becomes a result: it is claimed from the queue, computed, worded and stored, in steps such that a process that dies in
//! between loses nothing and two processes never store two results for one request. Nothing of this happens within an HTTP request.

mod worker;

use std::time::Duration;

use db::Timestamp;
use serde_json::json;
use tokio::time::Instant;

pub(crate) use worker::run;

use super::{
    assess::{Shop, assess},
    language_model::{self, PROMPT_VERSION, Trace, Wording},
    model::Figures,
    payload::AnalysisPayload,
    result::{Provenance, Source},
    store::{
        history::{Subject, subject},
        queue::{self, Taken},
        results::{self, NewAnalysis},
    },
    text::Text,
};
use crate::{
    State,
    digest::digest,
    events::{self, EventType},
    rest::json::Titled,
    stock::Policy,
};

/// Due rows that are looked at to find one that nobody else takes first.
const LOOKED_AT: i64 = 8;
/// What a lease has beyond the model's longest time: for the database.
const MARGIN: Duration = Duration::from_secs(60);

/// What one step of the work came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Nothing was due.
    Idle,
    /// An analysis of this id is on record.
    Analysed(i64),
    /// The model is asked again after this moment.
    Again(Timestamp),
    /// The product was analysed a short while ago; it is looked at again then.
    Later(Timestamp),
    /// There was nothing to do: the product is gone, or low no more.
    Dropped,
    /// Somebody else has taken the request over.
    Lost,
}

/// A request that this worker holds.
#[derive(Debug, Clone)]
struct Claim {
    taken: Taken,
    lease: String,
    is_postponed: bool,
}

/// Takes one request that is due and works on it. What fails is due again when its lease ends.
///
/// # Errors
///
/// Faults of the store.
pub async fn step(state: &State) -> Result<Step, db::Error> {
    match claim(state).await? {
        None => Ok(Step::Idle),
        Some(claim) => work(state, claim).await,
    }
}

/// As [`step`], on the request of one product, when that is due.
///
/// # Errors
///
/// Faults of the store.
pub async fn step_of(state: &State, product: i64) -> Result<Step, db::Error> {
    match take(state, product).await? {
        None => Ok(Step::Idle),
        Some(claim) => work(state, claim).await,
    }
}

/// Takes a request that is due, people's first.
async fn claim(state: &State) -> Result<Option<Claim>, db::Error> {
    let now = state.clock.now();
    let due = async move |conn: &mut db::Conn| queue::due(conn, now, LOOKED_AT).await;
    for product in state.db.read::<_, db::Error, _>(due).await? {
        if let Some(claim) = take(state, product).await? {
            return Ok(Some(claim));
        }
    }
    Ok(None)
}

/// Takes the request of a product, unless it is not due or somebody else was quicker.
async fn take(state: &State, product: i64) -> Result<Option<Claim>, db::Error> {
    let now = state.clock.now();
    let model = state.analysis.model.as_ref();
    let longest = model.map(language_model::Model::longest);
    let until = now + longest.unwrap_or_default() + MARGIN;
    let lease = state.replica.lease(&state.random.token());
    let take = {
        let lease = lease.clone();
        async move |tx: &mut db::Tx| {
            let before = queue::find(tx, product).await?;
            let taken = queue::take(tx, product, &lease, until, now).await?;
            Ok::<_, db::Error>(taken.zip(before))
        }
    };
    let taken = state.db.write(take).await?;
    Ok(taken.map(|(taken, before)| Claim {
        is_postponed: taken.tries == 0 && before.due_at > before.requested_at && !before.is_taken,
        taken,
        lease,
    }))
}

async fn work(state: &State, claim: Claim) -> Result<Step, db::Error> {
    let begun = Instant::now();
    let now = state.clock.now();
    let product = claim.taken.product;
    let read = async move |conn: &mut db::Conn| {
        let subject = subject(conn, product).await?;
        Ok::<_, db::Error>((subject, results::newest(conn, product).await?))
    };
    let (Some(subject), newest) = state.db.read(read).await? else {
        return Ok(Step::Dropped);
    };
    let threshold = Policy::from(&state.config).threshold_of(subject.threshold);
    if claim.taken.asked_by.is_none() && claim.taken.tries == 0 {
        if claim.is_postponed && subject.quantity >= threshold {
            return drop_request(state, claim).await;
        }
        let warm = newest.map(|(_, made)| made + state.config.analysis.cooldown);
        if let Some(warm) = warm.filter(|warm| *warm > now) {
            return put_back(state, claim, warm, 0, Step::Later(warm)).await;
        }
    }
    let (shop, subjects) = (Shop::from(&state.config), vec![subject.clone()]);
    let read = async move |conn: &mut db::Conn| assess(conn, shop, &subjects, now).await;
    let Some(figures) = state.db.read::<_, db::Error, _>(read).await?.pop() else {
        return Ok(Step::Dropped);
    };
    let text = Text {
        locale: state.config.language,
        title: &subject.title,
        figures: &figures,
        now,
    };
    let mut trace = Trace::default();
    let tries = claim.taken.tries;
    let wording = match &state.analysis.model {
        None => Wording::Computed("no_model"),
        Some(model) => language_model::word(state, model, &text, tries, &mut trace).await?,
    };
    if let Wording::Again(due) = wording {
        return put_back(state, claim, due, tries + 1, Step::Again(due)).await;
    }
    let made = Made {
        figures: &figures,
        wording: &wording,
        trace,
        duration: begun.elapsed(),
    };
    let new = made.analysis(state, &claim, &text, &subject);
    keep(state, claim, subject, new).await
}

/// What goes into a result.
struct Made<'a> {
    figures: &'a Figures,
    wording: &'a Wording,
    trace: Trace,
    duration: Duration,
}

impl Made<'_> {
    fn analysis(
        self,
        state: &State,
        claim: &Claim,
        text: &Text<'_>,
        subject: &Subject,
    ) -> NewAnalysis {
        let (source, outcome, result) = match self.wording {
            Wording::Said(worded) => (Source::Model, "worded", text.worded(worded)),
            Wording::Computed(outcome) => (Source::Formula, *outcome, text.computed()),
            // Put back before.
            Wording::Again(_) => (Source::Formula, "unusable", text.computed()),
        };
        state.analysis.metrics.made(source.name(), outcome);
        // Serialising plain numbers does not fail.
        let figures = serde_json::to_string(self.figures).unwrap_or_default();
        let inputs = json!([PROMPT_VERSION, subject.id, subject.title, figures]).to_string();
        let model = state.analysis.model.as_ref();
        NewAnalysis {
            product: Some(subject.id),
            result,
            suggested_quantity: self.figures.suggested_quantity(),
            figures,
            provenance: Provenance {
                source,
                outcome: outcome.to_owned(),
                language: text.locale.tag().to_owned(),
                model: model.map(|model| model.name().to_owned()),
                prompt_version: model.map(|_| PROMPT_VERSION.to_owned()),
                inputs_digest: digest(&inputs),
                duration_ms: i64::try_from(self.duration.as_millis()).unwrap_or(i64::MAX),
                prompt_tokens: self.trace.prompt_tokens,
                completion_tokens: self.trace.completion_tokens,
                finish_reason: self.trace.finish_reason,
                asked_by: claim.taken.asked_by.clone(),
            },
        }
    }
}

/// Puts the result on record, tells of it and ends the request, all or nothing; nothing when somebody else has the request by now.
async fn keep(
    state: &State,
    claim: Claim,
    subject: Subject,
    new: NewAnalysis,
) -> Result<Step, db::Error> {
    let now = state.clock.now();
    let warm = now + state.config.analysis.cooldown;
    let threshold = Policy::from(&state.config).threshold_of(subject.threshold);
    let keep = async move |tx: &mut db::Tx| {
        if !queue::remove(tx, subject.id, &claim.lease).await? {
            return Ok(Step::Lost);
        }
        let id = results::insert(tx, &new, now).await?;
        let data = AnalysisPayload {
            id,
            result: &new.result,
            created_at: now,
            product: Titled {
                id: subject.id,
                title: subject.title.clone(),
            },
            suggested_quantity: new.suggested_quantity,
        };
        events::publish(tx, EventType::AnalysisCreated, subject.id, data, now).await?;
        // What was sold meanwhile asked for an analysis too, and found this one at work.
        let current = super::store::history::subject(tx, subject.id).await?;
        if current.is_some_and(|current| {
            current.quantity != subject.quantity && current.quantity < threshold
        }) {
            queue::renew(tx, subject.id, warm).await?;
        }
        Ok(Step::Analysed(id))
    };
    state.db.write(keep).await
}

async fn put_back(
    state: &State,
    claim: Claim,
    due: Timestamp,
    tries: i64,
    step: Step,
) -> Result<Step, db::Error> {
    let put_back = async move |tx: &mut db::Tx| {
        queue::put_back(tx, claim.taken.product, &claim.lease, due, tries).await
    };
    let is_ours = state.db.write::<_, db::Error, _>(put_back).await?;
    Ok(if is_ours { step } else { Step::Lost })
}

async fn drop_request(state: &State, claim: Claim) -> Result<Step, db::Error> {
    let remove =
        async move |tx: &mut db::Tx| queue::remove(tx, claim.taken.product, &claim.lease).await;
    state.db.write::<_, db::Error, _>(remove).await?;
    Ok(Step::Dropped)
}
