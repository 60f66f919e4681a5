//! Prepares results for templates: the text as paragraphs and lists, and the provenance in words.

use std::time::Duration;

use resource::Both;
use web::locale::Locale;

use crate::{
    analysis::{
        Phase, Provenance, RestockTerms, Source,
        model::Terms,
        text::{ASSUMPTIONS, decimal},
    },
    page::{Form, Frame},
};

/// A part of a result's text. The beginning of a line decides its kind.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// A line before a list.
    Heading(String),
    /// A single line.
    Paragraph(String),
    /// Lines that begin with a dash.
    List(Vec<String>),
}

/// The parts of a text, except the first line, which is the page's heading.
pub(crate) fn pieces(text: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for line in text.lines().skip(1).map(str::trim) {
        match (line.strip_prefix("- "), pieces.last_mut()) {
            _ if line.is_empty() => {}
            (Some(item), Some(Piece::List(items))) => items.push(item.to_owned()),
            (Some(item), last) => {
                if let Some(Piece::Paragraph(heading)) = last
                    && !heading.ends_with(['.', ':', '!'])
                {
                    let heading = std::mem::take(heading);
                    pieces.pop();
                    pieces.push(Piece::Heading(heading));
                }
                pieces.push(Piece::List(vec![item.to_owned()]));
            }
            (None, _) => pieces.push(Piece::Paragraph(line.to_owned())),
        }
    }
    pieces
}

/// Splits a text into the advice and the assumptions at its end.
pub(super) fn split_assumptions(text: &str) -> (Vec<Piece>, Vec<Piece>) {
    let mut advice = pieces(text);
    let is_title = |piece: &Piece| matches!(piece, Piece::Heading(title) if *title == ASSUMPTIONS.0 || *title == ASSUMPTIONS.1);
    let begin = advice.iter().rposition(is_title).unwrap_or(advice.len());
    let mut assumptions = advice.split_off(begin);
    // The page has its own heading for them.
    assumptions.retain(|piece| !is_title(piece));
    (advice, assumptions)
}

fn source(frame: &Frame, source: Source) -> &'static str {
    match source {
        Source::Formula => frame.locale.text("Fórmulas", "Formulas"),
        Source::Model => frame.locale.text("Modelo de linguagem", "Language model"),
    }
}

pub(super) fn queue_text(locale: Locale, waiting: i64) -> String {
    if waiting == 1 {
        return locale
            .text(
                "1 produto aguarda análise.",
                "1 product is waiting for its analysis.",
            )
            .to_owned();
    }
    let wait = locale.text(
        "produtos aguardam análise.",
        "products are waiting for their analyses.",
    );
    format!("{} {wait}", locale.number(waiting))
}

/// The provenance of an analysis, in words.
pub(super) fn facts(frame: &Frame, provenance: &Provenance) -> Vec<(&'static str, String)> {
    let locale = frame.locale;
    let mut facts = vec![
        (
            locale.text("Texto de", "Text by"),
            source(frame, provenance.source).to_owned(),
        ),
        (
            locale.text("Números de", "Figures by"),
            locale.text("Fórmulas", "Formulas").to_owned(),
        ),
        (
            locale.text("Modelo de linguagem", "Language model"),
            frame.say(outcome(&provenance.outcome)).to_owned(),
        ),
    ];
    let mut add = |name, value: Option<String>| {
        if let Some(value) = value {
            facts.push((name, value));
        }
    };
    add(locale.text("Modelo", "Model"), provenance.model.clone());
    add(
        locale.text("Versão das instruções", "Prompt version"),
        provenance.prompt_version.clone(),
    );
    let tokens = provenance.prompt_tokens.zip(provenance.completion_tokens);
    add(
        locale.text("Tokens (pergunta e resposta)", "Tokens (prompt and answer)"),
        tokens.map(|(prompt, answer)| {
            format!("{} + {}", locale.number(prompt), locale.number(answer))
        }),
    );
    add(
        locale.text("Motivo do fim", "Finish reason"),
        provenance.finish_reason.clone(),
    );
    add(
        locale.text("Pedida por", "Requested by"),
        provenance.asked_by.clone(),
    );
    add(
        locale.text("Duração", "Duration"),
        Some(duration(locale, provenance.duration_ms)),
    );
    add(
        locale.text("Código dos dados usados", "Digest of the inputs"),
        provenance.inputs_digest.get(..16).map(str::to_owned),
    );
    facts
}

fn duration(locale: Locale, milliseconds: i64) -> String {
    if milliseconds < 1000 {
        return format!("{milliseconds} ms");
    }
    let seconds = crate::analysis::model::real(milliseconds) / 1000.0;
    format!("{} s", decimal(locale, seconds, 1))
}

/// The outcome of the call to the language model, in words.
pub(crate) fn outcome(outcome: &str) -> Both {
    match outcome {
        "worded" => ("redigiu o texto", "worded the text"),
        "no_model" => ("nenhum configurado", "none configured"),
        "quota" => (
            "o limite de chamadas foi atingido",
            "the call limit was reached",
        ),
        "resting" => (
            "falhou há pouco e não foi chamado",
            "failed a short while ago and was not called",
        ),
        "timeout" | "unavailable" => ("não respondeu", "did not answer"),
        "throttled" => ("estava sobrecarregado", "was overloaded"),
        "refused" => ("recusou a chamada", "refused the call"),
        "filtered" | "declined" => ("recusou-se a responder", "declined to answer"),
        "report" => ("não é usado em relatórios", "is not used for reports"),
        _ => (
            "a resposta não pôde ser usada",
            "its answer could not be used",
        ),
    }
}

/// The progress of a request, in words.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    /// The analysis is being made or begins in a moment, so the page asks again.
    pub(crate) current: Option<String>,
    /// When a postponed analysis begins. The user may request one now all the same.
    pub(crate) postponed: Option<String>,
}

impl Progress {
    pub(super) fn of(frame: &Frame, phase: Option<Phase>) -> Self {
        let (current, postponed) = match phase {
            None => (None, None),
            Some(Phase::Running) => (
                Some(frame.text("Analisando agora…", "Analysing now…").to_owned()),
                None,
            ),
            Some(Phase::Waiting) => {
                let text = frame.text(
                    "Na fila: a análise começa em instantes.",
                    "Queued: it starts in a moment.",
                );
                (Some(text.to_owned()), None)
            }
            Some(Phase::Postponed(due)) => {
                let begin = frame.text("Na fila para", "Queued for");
                // Rounded up to the minute, so the analysis never begins later than shown.
                let due = frame.locale.date_time(due + Duration::from_secs(59));
                (None, Some(format!("{begin} {due}.")))
            }
        };
        Self { current, postponed }
    }
}

pub(super) fn defaults(locale: Locale, shop: &Terms) -> [String; 5] {
    let days = |days: f64| {
        let number = decimal(locale, days, 2);
        format!("{number} {}", locale.text("dias", "days"))
    };
    [
        days(shop.lead_time),
        days(shop.lead_time_deviation),
        format!("{}%", decimal(locale, shop.service_level, 2)),
        days(shop.review_interval),
        locale.number(shop.pack_multiple),
    ]
}

/// The form of a product's supply terms.
pub(super) fn form(frame: &Frame, terms: &RestockTerms) -> Form {
    let integer = |value: Option<i64>| value.map(|value| value.to_string()).unwrap_or_default();
    let point = frame.locale.text(",", ".");
    let decimal = |value: Option<db::Money>| {
        let text = value.map(|value| value.to_string()).unwrap_or_default();
        let text = text.trim_end_matches('0').trim_end_matches('.');
        text.replace('.', point)
    };
    Form::new()
        .with("lead_time_days", integer(terms.lead_time_days))
        .with(
            "lead_time_deviation_days",
            decimal(terms.lead_time_deviation_days),
        )
        .with("service_level", decimal(terms.service_level))
        .with("review_interval_days", integer(terms.review_interval_days))
        .with("pack_multiple", integer(terms.pack_multiple))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_falls_into_its_pieces() {
        let text =
            "Reposição: X\n\nPeça 3.\nHá 2.\n\nPor quê\n- a\n- b\n\nPremissas\n- c: <b>d</b>";
        let list =
            |items: &[&str]| Piece::List(items.iter().map(|&item| item.to_owned()).collect());
        assert_eq!(
            pieces(text),
            [
                Piece::Paragraph("Peça 3.".to_owned()),
                Piece::Paragraph("Há 2.".to_owned()),
                Piece::Heading("Por quê".to_owned()),
                list(&["a", "b"]),
                Piece::Heading("Premissas".to_owned()),
                list(&["c: <b>d</b>"]),
            ]
        );
        let (advice, assumptions) = split_assumptions(text);
        assert_eq!(advice.len(), 4);
        assert_eq!(assumptions, [list(&["c: <b>d</b>"])]);
    }
}
