//! Settings with a fixed set of values.

use inventory::accounts::second_factor::MandatoryFor;
use inventory::stock::AlertMode;
use web::locale::Locale;

use super::Value;

/// A type with a fixed set of named values.
trait Choice: Copy + PartialEq + 'static {
    const CHOICES: &'static [(&'static str, Self)];
}

impl<T: Choice> Value for T {
    fn allowed() -> String {
        let names: Vec<String> = T::CHOICES
            .iter()
            .map(|(name, _)| format!("`{name}`"))
            .collect();
        match names.split_last() {
            Some((last, others)) => format!("{} or {last}", others.join(", ")),
            None => String::new(),
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let found = T::CHOICES.iter().find(|(name, _)| *name == text);
        found.map(|(_, value)| *value)
    }

    fn show(&self) -> String {
        let found = T::CHOICES.iter().find(|(_, value)| value == self);
        found.map_or_else(String::new, |(name, _)| (*name).to_owned())
    }
}

impl Choice for bool {
    const CHOICES: &'static [(&'static str, Self)] = &[("true", true), ("false", false)];
}

/// When the weekly report on the whole shop is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReportSchedule {
    Off,
    Weekly,
}

impl Choice for ReportSchedule {
    const CHOICES: &'static [(&'static str, Self)] =
        &[("weekly", Self::Weekly), ("off", Self::Off)];
}

impl Choice for MandatoryFor {
    const CHOICES: &'static [(&'static str, Self)] = &[
        ("off", Self::Nobody),
        ("staff", Self::Staff),
        ("writers", Self::Writers),
    ];
}

impl Choice for AlertMode {
    const CHOICES: &'static [(&'static str, Self)] =
        &[("every_outflow", Self::EveryOutflow), ("once", Self::Once)];
}

/// The format of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

impl Choice for LogFormat {
    const CHOICES: &'static [(&'static str, Self)] = &[("text", Self::Text), ("json", Self::Json)];
}

/// The default language of texts. Any tag that begins with the language is accepted.
impl Value for Locale {
    fn allowed() -> String {
        "`pt-BR` or `en`".to_owned()
    }

    fn parse(text: &str) -> Option<Self> {
        Self::parse(text)
    }

    fn show(&self) -> String {
        self.tag().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_one_of_its_names() {
        assert_eq!(MandatoryFor::allowed(), "`off`, `staff` or `writers`");
        assert_eq!(AlertMode::parse("once"), Some(AlertMode::Once));
        assert_eq!(AlertMode::parse("twice"), None);
        assert_eq!(LogFormat::Json.show(), "json");
    }
}
