//! Settings of analyses, mails and accounts with a fixed set of values.

use inventory::accounts::second_factor::MandatoryFor;
use web::locale::Locale;

use super::Value;

/// The language of texts that no reader asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Language(pub(crate) Locale);

impl Value for Language {
    fn allowed() -> String {
        "`pt-BR` or `en`".to_owned()
    }

    fn parse(text: &str) -> Option<Self> {
        Locale::parse(text).map(Self)
    }

    fn show(&self) -> String {
        self.0.tag().to_owned()
    }
}

/// When the whole shop is reported on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReportSchedule {
    Off,
    Weekly,
}

impl Value for ReportSchedule {
    fn allowed() -> String {
        "`weekly` or `off`".to_owned()
    }

    fn parse(text: &str) -> Option<Self> {
        match text {
            "off" => Some(Self::Off),
            "weekly" => Some(Self::Weekly),
            _ => None,
        }
    }

    fn show(&self) -> String {
        match self {
            Self::Off => "off",
            Self::Weekly => "weekly",
        }
        .to_owned()
    }
}

/// Whose accounts must have a second factor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RequireSecondFactor(pub(crate) MandatoryFor);

impl Value for RequireSecondFactor {
    fn allowed() -> String {
        "`off`, `staff` or `writers`".to_owned()
    }

    fn parse(text: &str) -> Option<Self> {
        match text {
            "off" => Some(Self(MandatoryFor::Nobody)),
            "staff" => Some(Self(MandatoryFor::Staff)),
            "writers" => Some(Self(MandatoryFor::Writers)),
            _ => None,
        }
    }

    fn show(&self) -> String {
        match self.0 {
            MandatoryFor::Nobody => "off",
            MandatoryFor::Staff => "staff",
            MandatoryFor::Writers => "writers",
        }
        .to_owned()
    }
}
