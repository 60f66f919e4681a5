//! The optional language model that writes the text of an analysis: its prompt, the checks of its
//! answers, retries, and the pause after failures.
//!
//! The model sees one product per call, has no tools and decides no figure. The protocol is chat
//! completions without streaming.

mod answer;
mod call;
mod dates;
mod facts;
mod prompt;

use std::{sync::Mutex, time::Duration};

use db::{Timestamp, lock_mutex};
use http::Uri;
use web::http_client::{HttpClient, TlsUnusable};

use super::{
    config::LanguageModel,
    text::{AnalysisText, ModelText},
};
use crate::State;
use answer::{Flaw, ModelAnswer};
use call::CallError;
use facts::AllowedFacts;
pub(super) use prompt::VERSION as PROMPT_VERSION;
use prompt::{Prompt, RequestForm};

/// Retries of a failed call. After them, the computed text is used.
const RETRIES: i64 = 2;
/// The backoff before the first retry. It doubles with every further one.
const FIRST_WAIT: Duration = Duration::from_millis(500);
/// The longest `Retry-After` that is obeyed. If a server asks for more, the computed text is used.
const LONGEST_WAIT: Duration = Duration::from_secs(15 * 60);
/// The pause after the last retry, so that the next requests do not wait for the same failure.
const PAUSE: Duration = Duration::from_secs(5 * 60);
/// How long the accepted form of a request is cached. Then the first form is tried again, because
/// the server may have been updated.
const FORM_LIFETIME: Duration = Duration::from_secs(60 * 60);
/// The most calls for one analysis: prompt and repair, and four to find the form that the server
/// accepts.
const MAX_CALLS: u32 = 6;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// The most connections that are kept for the next calls.
const IDLE_CONNECTIONS: usize = 16;

/// The configured model, with its state in this process.
pub(super) struct ConfiguredModel {
    config: LanguageModel,
    client: HttpClient,
    endpoint: Uri,
    /// The model is not called before this time.
    paused_until: Mutex<Option<Timestamp>>,
    /// The other form of a request that the server accepts, and when this cache entry expires.
    form: Mutex<Option<(RequestForm, Timestamp)>>,
}

/// The origin of an analysis' text.
#[derive(Debug)]
pub(super) enum Narrative {
    FromModel(ModelText),
    /// The text is computed, for this reason.
    FromFormula(&'static str),
    /// The call failed temporarily. It is retried at this time.
    Retry(Timestamp),
}

/// The token counts of one call, or of all calls for one analysis, and the finish reason of the last.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ModelUsage {
    pub(super) prompt_tokens: Option<i64>,
    pub(super) completion_tokens: Option<i64>,
    pub(super) finish_reason: Option<String>,
}

impl ConfiguredModel {
    pub(super) fn new(config: LanguageModel) -> Result<Self, TlsUnusable> {
        let uses_tls = config.base_url.scheme_str() == Some("https");
        let client = HttpClient::new(
            uses_tls,
            CONNECT_TIMEOUT.min(config.timeout),
            IDLE_CONNECTIONS,
        )?;
        let path = config.base_url.path().trim_end_matches('/');
        let endpoint = Uri::builder()
            .scheme(config.base_url.scheme_str().unwrap_or("http"))
            .authority(
                config
                    .base_url
                    .authority()
                    .map_or("", http::uri::Authority::as_str),
            )
            .path_and_query(format!("{path}/chat/completions"))
            .build()
            .unwrap_or_else(|_| config.base_url.clone());
        Ok(Self {
            config,
            client,
            endpoint,
            paused_until: Mutex::new(None),
            form: Mutex::new(None),
        })
    }

    pub(super) fn name(&self) -> &str {
        &self.config.model
    }

    /// The longest time that all calls for one analysis may take.
    pub(super) fn max_duration(&self) -> Duration {
        self.config.timeout * MAX_CALLS
    }

    /// The form of the next call: the cached one, or the first.
    fn form(&self, now: Timestamp) -> RequestForm {
        let remembered = lock_mutex(&self.form).filter(|(_, until)| now < *until);
        remembered.map_or(RequestForm::FIRST, |(form, _)| form)
    }

    fn remember_form(&self, accepted: RequestForm, now: Timestamp) {
        *lock_mutex(&self.form) = Some((accepted, now + FORM_LIFETIME));
        tracing::info!(
            form = ?accepted,
            "language model: the server refused another form of the request; this one is used for an hour"
        );
    }

    fn is_paused(&self, now: Timestamp) -> bool {
        lock_mutex(&self.paused_until).is_some_and(|until| now < until)
    }

    fn pause(&self, until: Timestamp) {
        *lock_mutex(&self.paused_until) = Some(until);
        tracing::warn!(%until, "language model: calls fail; the texts of analyses are computed until then");
    }
}

/// Lets the model write the text after `tries` failed calls. Adds the token counts to `usage`.
pub(super) async fn narrate(
    state: &State,
    model: &ConfiguredModel,
    text: &AnalysisText<'_>,
    tries: i64,
    usage: &mut ModelUsage,
) -> Result<Narrative, db::Error> {
    if model.is_paused(state.clock.now()) {
        return Ok(Narrative::FromFormula("resting"));
    }
    let prompt = Prompt::new(model.name(), text);
    let facts = AllowedFacts::of(prompt.data(), text.title, text.locale);
    let first = match call_model(state, model, &prompt, None, usage).await? {
        Ok(answer) => answer,
        Err(error) => return Ok(after_failure(state, model, &error, tries)),
    };
    let flaw = match check(&first, &facts) {
        Ok(narrative) => return Ok(narrative),
        Err(flaw) => flaw.to_string(),
    };
    tracing::info!(%flaw, "language model: the answer cannot be used; the model is asked to repair it");
    let content = first.content.as_deref().unwrap_or_default();
    let flawed = Some((content, flaw.as_str()));
    let second = match call_model(state, model, &prompt, flawed, usage).await? {
        Ok(answer) => answer,
        Err(error) => {
            tracing::info!(%error, "language model: the repair of the answer failed; the text is computed");
            return Ok(Narrative::FromFormula("unusable"));
        }
    };
    Ok(check(&second, &facts).unwrap_or_else(|flaw| {
        tracing::info!(%flaw, "language model: the repaired answer cannot be used; the text is computed");
        Narrative::FromFormula("unusable")
    }))
}

/// Calls the model, and changes the form of the request while the server refuses a part of it.
async fn call_model(
    state: &State,
    model: &ConfiguredModel,
    prompt: &Prompt<'_>,
    flawed: Option<(&str, &str)>,
    usage: &mut ModelUsage,
) -> Result<Result<ModelAnswer, CallError>, db::Error> {
    let first = model.form(state.clock.now());
    let mut form = first;
    loop {
        let result = call::call(state, model, prompt.body(form, flawed), usage).await?;
        let refused = result.as_ref().err().and_then(CallError::refused);
        if let Some(other) = refused.and_then(|refused| form.without(refused)) {
            form = other;
            continue;
        }
        if result.is_ok() && form != first {
            model.remember_form(form, state.clock.now());
        }
        return Ok(result);
    }
}

/// The text that follows from an answer. Fails with a flaw that the model may be able to repair.
fn check(answer: &ModelAnswer, facts: &AllowedFacts) -> Result<Narrative, Flaw> {
    match answer.content().and_then(|content| facts.check(content)) {
        Ok(text) => Ok(Narrative::FromModel(text)),
        Err(Flaw::Filtered) => Ok(Narrative::FromFormula("filtered")),
        Err(Flaw::Declined) => Ok(Narrative::FromFormula("declined")),
        Err(flaw) => Err(flaw),
    }
}

/// Retries a failed call later, or uses the computed text. After the last retry, pauses the model.
fn after_failure(
    state: &State,
    model: &ConfiguredModel,
    error: &CallError,
    tries: i64,
) -> Narrative {
    let now = state.clock.now();
    tracing::info!(%error, tries, "language model: the call failed; it is retried later, or the text is computed");
    let CallError::Temporary { wait, outcome } = error else {
        return Narrative::FromFormula(error.outcome());
    };
    let wait = (*wait).unwrap_or_else(|| backoff(state, tries));
    if tries < RETRIES && wait <= LONGEST_WAIT {
        return Narrative::Retry(now + wait);
    }
    model.pause(now + wait.max(PAUSE));
    Narrative::FromFormula(outcome)
}

/// The backoff before the next retry: 0.5 s, 1 s, …, each shorter by a random part of up to a
/// quarter, so that replicas do not retry at the same time.
fn backoff(state: &State, tries: i64) -> Duration {
    let wait = delivery::backoff(FIRST_WAIT, tries, PAUSE);
    let quarter = u64::try_from(wait.as_millis() / 4).unwrap_or(0);
    wait.saturating_sub(Duration::from_millis(state.random.below(quarter + 1)))
}
