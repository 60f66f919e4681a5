//! The language model that writes the text of an analysis, where one is configured: its prompt,
//! which answers are accepted, and when it is called again or not at all.
//!
//! It sees one product at a time, has no tools, and decides no figure. The interface is chat
//! completions, not streamed.

mod answer;
mod call;
mod prompt;

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use db::Timestamp;
use http::Uri;
use web::http_client::{HttpClient, TlsUnusable};

use super::{
    config::LanguageModel,
    text::{AnalysisText, ModelText},
};
use crate::State;
use answer::{AllowedFacts, Flaw, ModelAnswer};
use call::CallError;
pub(super) use prompt::VERSION as PROMPT_VERSION;
use prompt::{AnswerFormat, Prompt};

/// Retries of a failed call, before the computed text is used.
const RETRIES: i64 = 2;
/// The first wait between two calls; each further one is twice as long.
const FIRST_WAIT: Duration = Duration::from_millis(500);
/// The longest wait that a server may ask for; instead of a longer one the computed text is used.
const LONGEST_WAIT: Duration = Duration::from_secs(15 * 60);
/// The pause after a model has failed finally, so that the next requests do not wait for the same
/// failure.
const PAUSE: Duration = Duration::from_secs(5 * 60);
/// How long the format that a server accepts is remembered. Then the strict one is tried again, for
/// an updated server.
const FORMAT_LIFETIME: Duration = Duration::from_secs(60 * 60);
/// The most calls of one analysis: a prompt and its repair, and the two simpler formats.
const MAX_CALLS: u32 = 4;
/// The longest time to connect.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The configured model.
pub(super) struct ConfiguredModel {
    config: LanguageModel,
    client: HttpClient,
    endpoint: Uri,
    /// It is not called until then.
    paused_until: Mutex<Option<Timestamp>>,
    /// The simpler format that the server accepts, and until when it is remembered.
    format: Mutex<Option<(AnswerFormat, Timestamp)>>,
}

/// Where the text of an analysis comes from.
#[derive(Debug)]
pub(super) enum Narrative {
    /// The model has written it.
    FromModel(ModelText),
    /// The model has not, for this reason: the text is computed.
    FromFormula(&'static str),
    /// The model is called again after this time.
    Retry(Timestamp),
}

/// The tokens of all calls of one analysis, and why the last one ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ModelUsage {
    pub(super) prompt_tokens: Option<i64>,
    pub(super) completion_tokens: Option<i64>,
    pub(super) finish_reason: Option<String>,
}

impl ConfiguredModel {
    pub(super) fn new(config: LanguageModel) -> Result<Self, TlsUnusable> {
        let uses_tls = config.base_url.scheme_str() == Some("https");
        let client = HttpClient::new(uses_tls, CONNECT_TIMEOUT.min(config.timeout))?;
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
            format: Mutex::new(None),
        })
    }

    /// Its name.
    pub(super) fn name(&self) -> &str {
        &self.config.model
    }

    /// The longest time that all calls of one analysis may take.
    pub(super) fn max_duration(&self) -> Duration {
        self.config.timeout * MAX_CALLS
    }

    /// The format that is tried first.
    fn format(&self, now: Timestamp) -> AnswerFormat {
        let format = self.format.lock().unwrap_or_else(PoisonError::into_inner);
        let remembered = format.filter(|(_, until)| now < *until);
        remembered.map_or(AnswerFormat::Schema, |(format, _)| format)
    }

    fn remember_format(&self, accepted: AnswerFormat, now: Timestamp) {
        let mut format = self.format.lock().unwrap_or_else(PoisonError::into_inner);
        *format = Some((accepted, now + FORMAT_LIFETIME));
        tracing::info!(
            format = ?accepted,
            "language model: the server refused a stricter answer format; this one is used for an hour"
        );
    }

    fn is_paused(&self, now: Timestamp) -> bool {
        let paused = self
            .paused_until
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        paused.is_some_and(|until| now < until)
    }

    fn pause(&self, until: Timestamp) {
        let mut paused = self
            .paused_until
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *paused = Some(until);
        tracing::warn!(%until, "language model: calls fail; the texts of analyses are computed until then");
    }
}

/// Has the model write a text, after `tries` failed calls. Adds the tokens of the calls to `usage`.
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
    let facts = AllowedFacts::of(prompt.data(), text.title);
    let first = match call_model(state, model, &prompt, None, usage).await? {
        Ok(answer) => answer,
        Err(error) => return Ok(after_failure(state, model, &error, tries)),
    };
    let (content, flaw) = match check(&first, &facts) {
        Ok(text) => return Ok(Narrative::FromModel(text)),
        Err(Flaw::Filtered) => return Ok(Narrative::FromFormula("filtered")),
        Err(Flaw::Declined) => return Ok(Narrative::FromFormula("declined")),
        Err(flaw) => (first.content.as_deref().unwrap_or_default(), flaw),
    };
    tracing::info!(%flaw, "language model: the answer cannot be used; it is asked to repair it");
    let flaw = flaw.to_string();
    let flawed = Some((content, flaw.as_str()));
    let second = match call_model(state, model, &prompt, flawed, usage).await? {
        Ok(answer) => answer,
        Err(error) => {
            tracing::info!(%error, "language model: the repair of the answer failed; the text is computed");
            return Ok(Narrative::FromFormula("unusable"));
        }
    };
    Ok(match check(&second, &facts) {
        Ok(text) => Narrative::FromModel(text),
        Err(Flaw::Filtered) => Narrative::FromFormula("filtered"),
        Err(Flaw::Declined) => Narrative::FromFormula("declined"),
        Err(flaw) => {
            tracing::info!(%flaw, "language model: the repaired answer cannot be used; the text is computed");
            Narrative::FromFormula("unusable")
        }
    })
}

/// Calls the model with the strictest answer format that the server accepts.
async fn call_model(
    state: &State,
    model: &ConfiguredModel,
    prompt: &Prompt<'_>,
    flawed: Option<(&str, &str)>,
    usage: &mut ModelUsage,
) -> Result<Result<ModelAnswer, CallError>, db::Error> {
    let first = model.format(state.clock.now());
    let mut format = first;
    loop {
        let answered = call::call(state, model, prompt.body(format, flawed), usage).await?;
        match (&answered, format.simpler()) {
            (Err(error), Some(simpler)) if error.may_be_about_format() => format = simpler,
            _ => {
                if answered.is_ok() && format != first {
                    model.remember_format(format, state.clock.now());
                }
                return Ok(answered);
            }
        }
    }
}

fn check(answer: &ModelAnswer, facts: &AllowedFacts) -> Result<ModelText, Flaw> {
    answer.content().and_then(|content| facts.check(content))
}

/// Retries a call that failed temporarily, or pauses the model.
fn after_failure(
    state: &State,
    model: &ConfiguredModel,
    error: &CallError,
    tries: i64,
) -> Narrative {
    let now = state.clock.now();
    tracing::info!(%error, tries, "language model: the call failed");
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

/// Half a second, a second, …, each shorter by up to a quarter, so that replicas do not call at the
/// same time.
fn backoff(state: &State, tries: i64) -> Duration {
    let wait = delivery::backoff(FIRST_WAIT, tries, PAUSE);
    let quarter = u64::try_from(wait.as_millis() / 4).unwrap_or(0);
    wait.saturating_sub(Duration::from_millis(state.random.below(quarter + 1)))
}
