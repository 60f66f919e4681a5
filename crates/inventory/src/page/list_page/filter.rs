//! The filters of a list: the fields of its form, the parameters that they set, and a chip for each
//! one that is set. Most follow from the described fields. A list adds its own.

use db::Money;
use resource::{Field, Value, text};
use web::locale::Locale;

use super::{Chip, ListAddress};
use crate::{
    page::{Form, Frame, numbers, picker::Picker},
    rest::{Message, Refusal, list::search_problem, query::Parameters},
};

const SEARCH: &Field = &text::<String>("Nome ou código", "Name or code", 500).named("search");

#[derive(Debug)]
pub(crate) struct Filter {
    /// The parameter.
    pub(crate) name: &'static str,
    pub(crate) label: String,
    pub(crate) control: FilterControl,
}

#[derive(Debug)]
pub(crate) enum FilterControl {
    /// A text search.
    Search,
    Record(Picker),
    /// A bound of this field, which is an amount.
    Amount(&'static Field),
    /// A day. The chip has these texts before and after it.
    Day(&'static str, &'static str),
    /// Fixed values with their labels. A first value that is empty means no filter.
    Choice(Vec<(&'static str, &'static str)>),
}

/// The time zone of a list's days. Times on pages are São Paulo's, so a list that counts days in UTC
/// must say so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Days {
    /// UTC, as in the API's filters and the daily totals of movements.
    Utc,
    SaoPaulo,
}

/// The request for a list: the parameters for the service, and the filter form.
#[derive(Debug)]
pub(crate) struct ListRequest {
    /// The parameters as services read them.
    pub(crate) parameters: Parameters,
    /// The values as typed, and their errors.
    pub(crate) form: Form,
    pub(crate) filters: Vec<Filter>,
}

impl Filter {
    /// The parameters of the first and the last day.
    pub(crate) const DAYS: [&'static str; 2] = ["date_from", "date_to"];

    pub(crate) fn search(label: impl Into<String>) -> Self {
        Self {
            name: SEARCH.name,
            label: label.into(),
            control: FilterControl::Search,
        }
    }

    pub(crate) fn record(picker: Picker) -> Self {
        Self {
            name: picker.name,
            label: picker.label.to_owned(),
            control: FilterControl::Record(picker),
        }
    }

    pub(crate) fn choice(
        name: &'static str,
        label: &str,
        values: impl Into<Vec<(&'static str, &'static str)>>,
    ) -> Self {
        Self {
            name,
            label: label.to_owned(),
            control: FilterControl::Choice(values.into()),
        }
    }

    /// The filter by a range of days.
    pub(crate) fn days(zone: Days, locale: Locale) -> [Self; 2] {
        let (zone, after) = match zone {
            Days::Utc => (locale.text("dia UTC", "UTC day"), " (UTC)"),
            Days::SaoPaulo => (locale.text("dia de São Paulo", "São Paulo day"), ""),
        };
        let [from, to] = Self::DAYS;
        let ends = [
            (from, locale.text("De", "From")),
            (to, locale.text("Até", "To")),
        ];
        ends.map(|(name, text)| Self {
            name,
            label: format!("{text} ({zone})"),
            control: FilterControl::Day(text, after),
        })
    }

    /// The filters of described fields: a picker for each reference, two bounds for each amount.
    pub(crate) fn of_fields(
        fields: &[&'static Field],
        locale: Locale,
    ) -> impl Iterator<Item = Self> {
        let words = [locale.text("de", "from"), locale.text("até", "to")];
        fields.iter().flat_map(move |&field| {
            let bounds = field.bounds.map(<[_; 2]>::from).into_iter().flatten();
            let bounds = bounds.zip(words).map(move |(name, word)| Self {
                name,
                label: format!("{} {word}", locale.say(field.short)),
                control: FilterControl::Amount(field),
            });
            let record = Picker::of(locale, field).map(Self::record);
            record.into_iter().chain(bounds)
        })
    }

    /// Parses the submitted value. An invalid one is an error in the form, and is ignored.
    async fn read(
        &mut self,
        frame: &Frame,
        parameters: &mut Parameters,
        form: &mut Form,
    ) -> Result<(), Refusal> {
        let (name, locale) = (self.name, frame.locale);
        let typed = parameters.get(name).unwrap_or_default().to_owned();
        form.set(name, &typed);
        match &mut self.control {
            FilterControl::Search => {
                // No text contains NUL, so the search finds nothing.
                let shown = typed.replace('\0', "\u{fffd}");
                form.set(name, &shown);
                if let Some(problem) = search_problem(parameters) {
                    form.complain_of(SEARCH, problem.text(locale));
                    let is_for_nul = problem == Message::NULL_CHARACTERS;
                    parameters.set(name, if is_for_nul { &shown } else { "" });
                }
            }
            FilterControl::Record(picker) => {
                let mut sent = Form::new();
                for suffix in Picker::SUFFIXES {
                    let name = format!("{name}{suffix}");
                    sent.set(&name, parameters.get(&name).unwrap_or_default());
                }
                *picker = picker.clone().resolve(frame, &sent, form).await?;
                parameters.set(name, &picker.id);
            }
            FilterControl::Amount(_) => match numbers::amount(&typed) {
                Ok(plain) => parameters.set(name, plain),
                Err(problem) => {
                    form.complain(name, numbers::message(problem, &typed, locale));
                    parameters.set(name, "");
                }
            },
            FilterControl::Day(..) => {}
            FilterControl::Choice(values) => {
                if !values.iter().any(|(value, _)| *value == typed) {
                    parameters.set(name, "");
                    form.set(name, "");
                }
            }
        }
        Ok(())
    }

    /// The text of the chip, if the filter is set.
    fn chip(&self, parameters: &Parameters, locale: Locale) -> Option<String> {
        let (value, label) = (parameters.get(self.name)?, &self.label);
        Some(match &self.control {
            FilterControl::Search => format!("“{}”", value.trim()),
            FilterControl::Record(picker) => format!("{label}: {}", picker.text),
            FilterControl::Amount(field) => {
                let amount = Money::parse(value).map(Value::Money);
                let shown = amount.map(|amount| field.shown(amount, locale));
                format!("{label} {}", shown.unwrap_or_else(|_| value.to_owned()))
            }
            FilterControl::Day(before, after) => {
                let day = locale.day(value.trim());
                let day = day.as_deref().unwrap_or(value.trim());
                format!("{before} {day}{after}")
            }
            FilterControl::Choice(values) => {
                let (_, word) = values.iter().find(|(known, _)| *known == value)?;
                match values.first() {
                    Some(("", _)) => (*word).to_owned(),
                    _ => format!("{label}: {word}"),
                }
            }
        })
    }
}

impl ListRequest {
    /// Parses the parameters of a list with these filters.
    pub(crate) async fn read(
        frame: &Frame,
        mut filters: Vec<Filter>,
        mut parameters: Parameters,
    ) -> Result<Self, Refusal> {
        let mut form = Form::new();
        for filter in &mut filters {
            filter.read(frame, &mut parameters, &mut form).await?;
        }
        Ok(Self {
            parameters,
            form,
            filters,
        })
    }

    /// The list's address. `ordering` is the default order.
    pub(crate) fn address(&self, path: &str, ordering: &'static str) -> ListAddress {
        let names = self.filters.iter().map(|filter| filter.name);
        ListAddress::new(path, names, ordering, &self.parameters)
    }

    /// The filters that are set, each with the text of its chip.
    fn set_filters(&self, locale: Locale) -> impl Iterator<Item = (&'static str, String)> {
        let filters = self.filters.iter();
        filters.filter_map(move |filter| {
            let text = filter.chip(&self.parameters, locale)?;
            Some((filter.name, text))
        })
    }

    pub(crate) fn chips(&self, address: &ListAddress, locale: Locale) -> Vec<Chip> {
        let set = self.set_filters(locale);
        set.map(|(name, text)| Chip {
            text,
            address: address.with(&[(name, ""), ("page", "")]),
        })
        .collect()
    }

    /// The filters that are set, in words. Empty for the unfiltered list.
    pub(crate) fn in_words(&self, locale: Locale) -> Vec<String> {
        self.set_filters(locale).map(|(_, text)| text).collect()
    }

    pub(crate) fn pickers(&self) -> impl Iterator<Item = &Picker> {
        self.filters
            .iter()
            .filter_map(|filter| match &filter.control {
                FilterControl::Record(picker) => Some(picker),
                _ => None,
            })
    }

    /// The filters that are set, except the search and the pickers: names and typed values.
    pub(crate) fn others(&self) -> Vec<(&'static str, String)> {
        let is_other = |filter: &&Filter| {
            !matches!(
                filter.control,
                FilterControl::Search | FilterControl::Record(_)
            )
        };
        let names = self
            .filters
            .iter()
            .filter(is_other)
            .map(|filter| filter.name);
        let others = names.map(|name| (name, self.form.value(name).to_owned()));
        others.filter(|(_, value)| !value.is_empty()).collect()
    }
}
