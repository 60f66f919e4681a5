//! The filters of a list and their submitted values. Most follow from the described fields: a
//! picker for each reference, two bounds for each amount. A list adds its own.

use db::Money;
use resource::{Field, Value, filters};

use super::{Chip, Days, Filter, ListAddress};
use crate::{
    page::{Form, Frame, picker::Picker, posts},
    rest::{Refusal, query::Parameters},
};

/// A filter with fixed values: the parameter, the label, and the values with their labels. A first
/// value that is empty means no filter.
pub(crate) type ChoiceFilter = (
    &'static str,
    &'static str,
    Vec<(&'static str, &'static str)>,
);

#[derive(Debug, Default)]
pub(crate) struct ListFilters {
    /// The label of the search. `None` if the list has none.
    pub(crate) search: Option<String>,
    /// The described fields to filter by.
    pub(crate) fields: Vec<&'static Field>,
    /// The time zone of the day filters. `None` if the list has none.
    pub(crate) days: Option<Days>,
    /// The filters with fixed values.
    pub(crate) choices: Vec<ChoiceFilter>,
}

/// The request for a list: the parameters for the service, and the filter form.
#[derive(Debug)]
pub(crate) struct ListRequest {
    /// The parameters as services read them.
    pub(crate) parameters: Parameters,
    /// The values as typed, and their errors.
    pub(crate) form: Form,
    pub(crate) picked: Vec<Picker>,
    filters: ListFilters,
}

/// A lower or upper bound of a field.
struct BoundFilter {
    field: &'static Field,
    name: &'static str,
    text: String,
}

impl ListFilters {
    /// The names of the parameters, in the order of the list's address.
    pub(crate) fn names(&self) -> Vec<&'static str> {
        let search = self.search.as_ref().map(|_| "search");
        let days = self.days.iter().flat_map(|_| Days::NAMES);
        let choices = self.choices.iter().map(|(name, ..)| *name);
        let fields = filters(&self.fields).into_iter();
        search
            .into_iter()
            .chain(fields)
            .chain(choices)
            .chain(days)
            .collect()
    }

    /// Parses the filters. An invalid filter is ignored, and the form shows the error.
    pub(crate) async fn read(
        self,
        frame: &Frame,
        mut parameters: Parameters,
    ) -> Result<ListRequest, Refusal> {
        let (mut form, locale) = (Form::new(), frame.locale);
        if self.search.is_some() {
            posts::filter_search(&mut parameters, &mut form, locale);
        }
        for (name, _, values) in &self.choices {
            let chosen = parameters.get(name).unwrap_or_default().to_owned();
            let chosen = values.iter().find(|(value, _)| *value == chosen);
            let chosen = chosen.map_or("", |(value, _)| value);
            parameters.set(name, chosen);
            form.set(name, chosen);
        }
        let bounds: Vec<_> = self.bounds(frame).map(|bound| bound.name).collect();
        let days = self.days.iter().flat_map(|_| Days::NAMES);
        for name in bounds.iter().copied().chain(days) {
            form.set(name, parameters.get(name).unwrap_or_default());
        }
        posts::filter_amounts(&mut parameters, &mut form, &bounds, locale);
        let mut picked = Vec::new();
        for picker in self
            .fields
            .iter()
            .filter_map(|field| Picker::of(frame, field))
        {
            let record = posts::filter_record(frame, picker, &mut parameters, &mut form);
            picked.push(record.await?);
        }
        Ok(ListRequest {
            parameters,
            form,
            picked,
            filters: self,
        })
    }

    fn bounds<'a>(&'a self, frame: &Frame) -> impl Iterator<Item = BoundFilter> + use<'a> {
        let words = [frame.text("de", "from"), frame.text("até", "to")];
        let locale = frame.locale;
        let fields = self.fields.iter();
        let bounded = fields.filter_map(|field| Some((*field, field.bounds?)));
        bounded.flat_map(move |(field, (least, greatest))| {
            let label = locale.say(field.short);
            let [from, to] = words;
            [(least, from), (greatest, to)].map(|(name, word)| BoundFilter {
                field,
                name,
                text: format!("{label} {word}"),
            })
        })
    }
}

impl ListRequest {
    /// The list's address. `ordering` is the default order.
    pub(crate) fn address(&self, path: &str, ordering: &'static str) -> ListAddress {
        ListAddress::new(path, &self.filters.names(), ordering, &self.parameters)
    }

    pub(crate) fn filters(&self, frame: &Frame) -> Vec<Filter> {
        let search = self.filters.search.clone().map(Filter::Search);
        let records = self.picked.iter().cloned().map(Filter::Record);
        let bounds = self.filters.bounds(frame);
        let amounts = bounds.map(|bound| Filter::Amount(bound.name, bound.text));
        let days = self
            .filters
            .days
            .iter()
            .flat_map(|days| days.filters(frame));
        let choices = self.filters.choices.iter().cloned();
        let choices = choices.map(|(name, text, values)| Filter::Choice(name, text, values));
        let fields = search.into_iter().chain(records).chain(amounts);
        fields.chain(choices).chain(days).collect()
    }

    pub(crate) fn chips(&self, frame: &Frame, address: &ListAddress) -> Vec<Chip> {
        let parameters = &self.parameters;
        let search = self
            .filters
            .search
            .as_ref()
            .and_then(|_| parameters.get("search"));
        let search = search.map(|search| address.chip("search", format!("“{}”", search.trim())));
        let picked = self.picked.iter().filter(|picked| !picked.id.is_empty());
        let picked = picked
            .map(|picked| address.chip(picked.name, format!("{}: {}", picked.label, picked.text)));
        let bounds = self
            .filters
            .bounds(frame)
            .filter_map(|BoundFilter { field, name, text }| {
                let amount = parameters.get(name)?;
                let amount = Money::parse(amount).map_or_else(
                    |_| amount.to_owned(),
                    |amount| field.shown(Value::Money(amount), frame.locale),
                );
                Some(address.chip(name, format!("{text} {amount}")))
            });
        let days = self.filters.days.into_iter();
        let days = days.flat_map(|days| days.chips(frame, address, parameters));
        let choices = self
            .filters
            .choices
            .iter()
            .filter_map(|(name, text, values)| {
                let chosen = parameters.get(name)?;
                let (_, word) = values.iter().find(|(value, _)| *value == chosen)?;
                let is_alone = values.first().is_some_and(|(value, _)| value.is_empty());
                let label = if is_alone {
                    (*word).to_owned()
                } else {
                    format!("{text}: {word}")
                };
                Some(address.chip(name, label))
            });
        let chips = search.into_iter().chain(picked).chain(bounds);
        chips.chain(choices).chain(days).collect()
    }

    /// The filters that are set, in words. Empty for the unfiltered list.
    pub(crate) fn in_words(&self, frame: &Frame) -> Vec<String> {
        let address = ListAddress::new("", &[], "", &self.parameters);
        let chips = self.chips(frame, &address).into_iter();
        chips.map(|chip| chip.text).collect()
    }

    /// The filters that are set, except the search and the pickers: names and typed values.
    pub(crate) fn others(&self) -> Vec<(&'static str, String)> {
        let is_picked = |name: &str| self.picked.iter().any(|picked| picked.name == name);
        let names = self.filters.names().into_iter();
        let names = names.filter(|name| *name != "search" && !is_picked(name));
        let others = names.map(|name| (name, self.form.value(name).to_owned()));
        others.filter(|(_, value)| !value.is_empty()).collect()
    }
}
