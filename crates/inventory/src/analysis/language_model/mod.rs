//! A language model that words what was computed, where one is configured: what it is asked, which answers are accepted, and when it
//! is asked again or not at all. It sees one product at a time, has no tools, and decides no figure.
//! Chat completions, not streamed; see docs/decisions.md for the details.

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
    text::{Text, Worded},
};
use crate::State;
use answer::{Answer, Flaw, Known};
use call::Trouble;
pub(super) use prompt::VERSION as PROMPT_VERSION;
use prompt::{AnswerFormat, Question};

/// Calls that may fail before the computed text stands in, besides the first.
const RETRIES: i64 = 2;
/// The first wait between two calls; each further one is twice as long.
const FIRST_WAIT: Duration = Duration::from_millis(500);
/// The longest wait that a server may ask for; beyond it nobody is kept waiting.
const LONGEST_WAIT: Duration = Duration::from_secs(15 * 60);
/// How long a model that failed for good is left alone, so that a queue behind it does not wait for each failure anew.
const REST: Duration = Duration::from_secs(5 * 60);
/// How long the format that a server takes is remembered: not every call is refused first, and an updated server is noticed.
const FORMAT_REMEMBERED: Duration = Duration::from_secs(60 * 60);
/// The most calls of one analysis: a question and its repair, and each of the two simpler formats.
const MOST_CALLS: u32 = 4;
/// Connections are made in this time or not at all.
const CONNECTING: Duration = Duration::from_secs(10);

/// The configured model.
pub(super) struct Model {
    config: LanguageModel,
    client: HttpClient,
    endpoint: Uri,
    /// Left alone until then.
    resting: Mutex<Option<Timestamp>>,
    /// The simpler format that the server takes, remembered until then.
    format: Mutex<Option<(AnswerFormat, Timestamp)>>,
}

/// What asking the model came to.
#[derive(Debug)]
pub(super) enum Wording {
    /// It said something usable.
    Said(Worded),
    /// It did not, for this reason: the computed text stands.
    Computed(&'static str),
    /// It may yet, after this moment.
    Again(Timestamp),
}

/// What is known of the calls of one analysis.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Trace {
    pub(super) prompt_tokens: Option<i64>,
    pub(super) completion_tokens: Option<i64>,
    pub(super) finish_reason: Option<String>,
}

impl Model {
    pub(super) fn new(config: LanguageModel) -> Result<Self, TlsUnusable> {
        let uses_tls = config.base_url.scheme_str() == Some("https");
        let client = HttpClient::new(uses_tls, CONNECTING.min(config.timeout))?;
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
            resting: Mutex::new(None),
            format: Mutex::new(None),
        })
    }

    /// Its name.
    pub(super) fn name(&self) -> &str {
        &self.config.model
    }

    /// The longest that one analysis may be at work with it.
    pub(super) fn longest(&self) -> Duration {
        self.config.timeout * MOST_CALLS
    }

    /// The format to ask for first.
    fn format(&self, now: Timestamp) -> AnswerFormat {
        let format = self.format.lock().unwrap_or_else(PoisonError::into_inner);
        let remembered = format.filter(|(_, until)| now < *until);
        remembered.map_or(AnswerFormat::Schema, |(format, _)| format)
    }

    fn remember(&self, taken: AnswerFormat, now: Timestamp) {
        let mut format = self.format.lock().unwrap_or_else(PoisonError::into_inner);
        *format = Some((taken, now + FORMAT_REMEMBERED));
        tracing::info!(
            format = ?taken,
            "the language model's server refused a stricter format of answers; this one is used for an hour"
        );
    }

    fn is_resting(&self, now: Timestamp) -> bool {
        let resting = self.resting.lock().unwrap_or_else(PoisonError::into_inner);
        resting.is_some_and(|until| now < until)
    }

    fn rest(&self, until: Timestamp) {
        let mut resting = self.resting.lock().unwrap_or_else(PoisonError::into_inner);
        *resting = Some(until);
        tracing::warn!(%until, "the language model fails; analyses are computed text until then");
    }
}

/// Has the model word a text, after so many `tries` that failed; `trace` learns what is known of the calls.
///
/// # Errors
///
/// Faults of the store, in which calls are counted.
pub(super) async fn word(
    state: &State,
    model: &Model,
    text: &Text<'_>,
    tries: i64,
    trace: &mut Trace,
) -> Result<Wording, db::Error> {
    if model.is_resting(state.clock.now()) {
        return Ok(Wording::Computed("resting"));
    }
    let question = Question::new(model.name(), text);
    let known = Known::of(question.data(), text.title);
    let first = match ask(state, model, &question, None, trace).await? {
        Ok(answer) => answer,
        Err(trouble) => return Ok(after(state, model, &trouble, tries)),
    };
    let (content, flaw) = match judge(&first, &known) {
        Ok(worded) => return Ok(Wording::Said(worded)),
        Err(Flaw::Filtered) => return Ok(Wording::Computed("filtered")),
        Err(Flaw::Declined) => return Ok(Wording::Computed("declined")),
        Err(flaw) => (first.content.as_deref().unwrap_or_default(), flaw),
    };
    tracing::info!(%flaw, "the language model's answer cannot be used; it is asked once more");
    let flaw = flaw.to_string();
    let flawed = Some((content, flaw.as_str()));
    let second = match ask(state, model, &question, flawed, trace).await? {
        Ok(answer) => answer,
        Err(trouble) => {
            tracing::info!(%trouble, "the language model did not repair its answer");
            return Ok(Wording::Computed("unusable"));
        }
    };
    Ok(match judge(&second, &known) {
        Ok(worded) => Wording::Said(worded),
        Err(Flaw::Filtered) => Wording::Computed("filtered"),
        Err(Flaw::Declined) => Wording::Computed("declined"),
        Err(flaw) => {
            tracing::info!(%flaw, "the language model's second answer cannot be used either");
            Wording::Computed("unusable")
        }
    })
}

/// Asks in the strictest format that the server takes.
async fn ask(
    state: &State,
    model: &Model,
    question: &Question<'_>,
    flawed: Option<(&str, &str)>,
    trace: &mut Trace,
) -> Result<Result<Answer, Trouble>, db::Error> {
    let first = model.format(state.clock.now());
    let mut format = first;
    loop {
        let answered = call::call(state, model, question.body(format, flawed), trace).await?;
        match (&answered, format.simpler()) {
            (Err(trouble), Some(simpler)) if trouble.may_be_about_the_format() => format = simpler,
            _ => {
                if answered.is_ok() && format != first {
                    model.remember(format, state.clock.now());
                }
                return Ok(answered);
            }
        }
    }
}

fn judge(answer: &Answer, known: &Known) -> Result<Worded, Flaw> {
    answer.usable().and_then(|content| known.check(content))
}

/// What follows from a call without an answer.
fn after(state: &State, model: &Model, trouble: &Trouble, tries: i64) -> Wording {
    let now = state.clock.now();
    tracing::info!(%trouble, tries, "the language model gave no answer");
    let Trouble::Passing { wait, outcome } = trouble else {
        return Wording::Computed(trouble.outcome());
    };
    let wait = (*wait).unwrap_or_else(|| backoff(state, tries));
    if tries < RETRIES && wait <= LONGEST_WAIT {
        return Wording::Again(now + wait);
    }
    model.rest(now + wait.max(REST));
    Wording::Computed(outcome)
}

/// Half a second, a second, …, each up to a quarter shorter, so that replicas do not call together.
fn backoff(state: &State, tries: i64) -> Duration {
    let exponent = u32::try_from(tries.clamp(0, 4)).unwrap_or(0);
    let wait = FIRST_WAIT * 2_u32.pow(exponent);
    let quarter = u64::try_from(wait.as_millis() / 4).unwrap_or(0);
    wait.saturating_sub(Duration::from_millis(state.random.below(quarter + 1)))
}
