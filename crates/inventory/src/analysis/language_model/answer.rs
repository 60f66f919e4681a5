//! Parses the server's response: an answer that the model completed, or why there is none. `facts`
//! checks its content.

use serde::Deserialize;

use super::{super::text::clean, ModelUsage};

/// A parsed response. `is_readable` is false if it does not have the shape of a chat completion.
#[derive(Debug, Default)]
pub(super) struct ModelAnswer {
    is_readable: bool,
    pub(super) content: Option<String>,
    is_declined: bool,
    pub(super) usage: ModelUsage,
}

/// Why an answer cannot be used. The texts are sent to the model, which is asked to repair it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Flaw {
    /// The response does not have the shape of a chat completion.
    #[error("it is no chat completion")]
    Unreadable,
    #[error("it was cut off: be shorter")]
    CutOff,
    /// The server's content filter removed the answer.
    #[error("it was filtered")]
    Filtered,
    #[error("it declines")]
    Declined,
    #[error("it is empty")]
    Empty,
    #[error("it is not JSON of the schema: {0}")]
    Schema(String),
    #[error("it has markup or a link")]
    Markup,
    /// The text contains this figure, which the prompt does not.
    #[error("the figure {0} does not stand in the data")]
    Figure(String),
}

#[derive(Deserialize)]
struct Completion {
    choices: Vec<CompletionChoice>,
    usage: Option<TokenUsage>,
}

#[derive(Deserialize)]
struct CompletionChoice {
    message: CompletionMessage,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct CompletionMessage {
    content: Option<String>,
    refusal: Option<String>,
}

#[derive(Default, Deserialize)]
struct TokenUsage {
    prompt_tokens: Option<i64>,
    completion_tokens: Option<i64>,
}

impl ModelUsage {
    pub(super) fn add(&mut self, call: &Self) {
        let sum = |before: Option<i64>, now: Option<i64>| match (before, now) {
            (Some(before), Some(now)) => Some(before.saturating_add(now)),
            (before, now) => before.or(now),
        };
        self.prompt_tokens = sum(self.prompt_tokens, call.prompt_tokens);
        self.completion_tokens = sum(self.completion_tokens, call.completion_tokens);
        self.finish_reason.clone_from(&call.finish_reason);
    }
}

impl ModelAnswer {
    /// Parses the body of a response with status 200.
    pub(super) fn parse(body: &[u8]) -> Self {
        let Ok(completion) = serde_json::from_slice::<Completion>(body) else {
            return Self::default();
        };
        let Some(choice) = completion.choices.into_iter().next() else {
            return Self::default();
        };
        let tokens = |count: Option<i64>| count.filter(|count| *count >= 0);
        let counted = completion.usage.unwrap_or_default();
        Self {
            is_readable: true,
            content: choice.message.content,
            is_declined: choice.message.refusal.is_some_and(|text| !text.is_empty()),
            usage: ModelUsage {
                prompt_tokens: tokens(counted.prompt_tokens),
                completion_tokens: tokens(counted.completion_tokens),
                finish_reason: choice.finish_reason.map(|reason| clean(&reason, 40)),
            },
        }
    }

    /// The content of an answer that the model completed.
    pub(super) fn content(&self) -> Result<&str, Flaw> {
        if !self.is_readable {
            return Err(Flaw::Unreadable);
        }
        if self.is_declined {
            return Err(Flaw::Declined);
        }
        match self.usage.finish_reason.as_deref() {
            Some("stop") => {}
            Some("content_filter") => return Err(Flaw::Filtered),
            _ => return Err(Flaw::CutOff),
        }
        let content = self.content.as_deref().map(str::trim).unwrap_or_default();
        if content.is_empty() {
            return Err(Flaw::Empty);
        }
        Ok(content)
    }
}
