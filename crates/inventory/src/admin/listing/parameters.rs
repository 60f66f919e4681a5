//! The query parameters of a list: `q` (search), `o` (order), `p` (page), `all`, `year`, `month`,
//! `day`, the filters, and `_facets` (counts of the filters).

use super::Dates;
use crate::{
    admin::about::{ModelDescription, ModelFilterKind},
    rest::{
        Message,
        list::{search_problem, search_words},
        query::{Parameters, write_pairs},
    },
};

pub(in crate::admin) const PER_PAGE: u64 = 100;
/// The most records on a "Show all" page.
pub(in crate::admin) const SHOW_ALL: u64 = 200;

/// The query string has a parameter or a value that the list does not support.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::admin) struct InvalidParameters;

#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a parameter of its own in the address"
)]
#[derive(Clone)]
pub(in crate::admin) struct ListParameters {
    pub(in crate::admin) about: &'static ModelDescription,
    /// The search text as typed.
    pub(in crate::admin) search: String,
    /// The sort key: column indexes from 0, each with whether it is descending.
    pub(in crate::admin) order: Vec<(usize, bool)>,
    /// Whether the query string has an order.
    pub(in crate::admin) is_ordered: bool,
    /// The active filters with their values.
    pub(in crate::admin) filters: Vec<(&'static str, String)>,
    pub(in crate::admin) dates: Dates,
    /// The page number, from 1.
    pub(in crate::admin) page: u64,
    pub(in crate::admin) size: u64,
    /// Whether to show all records on one page.
    pub(in crate::admin) shows_all: bool,
    /// Whether to show the number of records beside each choice of a filter.
    pub(in crate::admin) shows_counts: bool,
    /// Whether the request was redirected here because its query string was invalid.
    pub(in crate::admin) is_corrected: bool,
}

impl ListParameters {
    /// The query of a request without parameters.
    pub(in crate::admin) fn nothing(about: &'static ModelDescription) -> Self {
        Self {
            about,
            search: String::new(),
            order: order_of(about, about.order).unwrap_or_default(),
            is_ordered: false,
            filters: Vec::new(),
            dates: Dates::default(),
            page: 1,
            size: PER_PAGE,
            shows_all: false,
            shows_counts: false,
            is_corrected: false,
        }
    }

    /// Parses the parameters of an address. [`ListParameters::refused_search`] tells whether the
    /// search is why they are invalid.
    pub(in crate::admin) fn parse(
        about: &'static ModelDescription,
        parameters: &Parameters,
    ) -> Result<Self, InvalidParameters> {
        let mut query = Self::nothing(about);
        for (name, value) in parameters.iter() {
            match name {
                "q" if about.search.is_some() && search_problem(&searched(value)).is_none() => {
                    value.clone_into(&mut query.search);
                }
                "o" => {
                    query.order = order_of(about, value)?;
                    query.is_ordered = true;
                }
                "p" => {
                    query.page = value
                        .parse()
                        .ok()
                        .filter(|page| *page > 0)
                        .ok_or(InvalidParameters)?;
                }
                "all" => query.shows_all = true,
                "_facets" => query.shows_counts = true,
                "e" => query.is_corrected = true,
                // The language switch adds this parameter on every page.
                "lang" => {}
                "year" | "month" | "day" if about.has_dates => {}
                _ => query.filter(name, value)?,
            }
        }
        if about.has_dates {
            query.dates = Dates::parse(parameters)?;
        }
        if query.order.is_empty() {
            query.order = order_of(about, about.order)?;
            query.is_ordered = false;
        }
        Ok(query)
    }

    fn filter(&mut self, name: &str, value: &str) -> Result<(), InvalidParameters> {
        let mut filters = self.about.filters.iter();
        let filter = filters
            .find(|filter| filter.name == name)
            .ok_or(InvalidParameters)?;
        let is_known = match filter.kind {
            ModelFilterKind::Truth => matches!(value, "0" | "1"),
            ModelFilterKind::Choices(choices) => choices.iter().any(|(known, _)| *known == value),
            ModelFilterKind::Related(_) => value.parse::<i64>().is_ok(),
        };
        if value.is_empty() {
            return Ok(());
        }
        if !is_known {
            return Err(InvalidParameters);
        }
        self.set(filter.name, Some(value));
        Ok(())
    }

    /// Sets a filter, or removes it if the value is `None`.
    pub(in crate::admin) fn set(&mut self, name: &'static str, value: Option<&str>) {
        self.filters.retain(|(other, _)| *other != name);
        if let Some(value) = value {
            self.filters.push((name, value.to_owned()));
        }
    }

    pub(in crate::admin) fn value(&self, name: &str) -> Option<&str> {
        let found = self.filters.iter().find(|(other, _)| *other == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The value of a filter as an id.
    pub(in crate::admin) fn id(&self, name: &str) -> Option<i64> {
        self.value(name)?.parse().ok()
    }

    /// The words of the search, folded by the rules of the API.
    pub(in crate::admin) fn words(&self) -> Vec<String> {
        search_words(&searched(&self.search))
    }

    /// The search of a query string, if it is refused, with the reason. No form sends the null
    /// character.
    pub(in crate::admin) fn refused_search(parameters: &Parameters) -> Option<(String, Message)> {
        let typed = parameters.get("q").filter(|typed| !typed.contains('\0'))?;
        Some((typed.to_owned(), search_problem(&searched(typed))?))
    }

    /// Whether a search, a filter or a date restricts the list.
    pub(in crate::admin) fn is_narrowed(&self) -> bool {
        !self.search.trim().is_empty() || !self.filters.is_empty() || self.dates.is_set()
    }

    /// The number of records before the page.
    pub(in crate::admin) fn offset(&self) -> u64 {
        (self.page - 1).saturating_mul(self.size)
    }

    /// The address of the first page with a changed query, for the links of filters, columns and
    /// dates.
    pub(in crate::admin) fn with(&self, change: impl FnOnce(&mut Self)) -> String {
        let mut changed = Self {
            page: 1,
            shows_all: false,
            is_corrected: false,
            ..self.clone()
        };
        change(&mut changed);
        changed.href()
    }

    /// The address of the list with this query.
    pub(in crate::admin) fn address(&self) -> String {
        format!("{}{}", self.about.address(), self.href())
    }

    /// The query as a relative address.
    pub(in crate::admin) fn href(&self) -> String {
        let mut pairs = self.pairs();
        if self.page > 1 {
            pairs.push(("p", self.page.to_string()));
        }
        if self.shows_all {
            pairs.push(("all", "1".to_owned()));
        }
        let pairs = pairs.iter().map(|(name, value)| (*name, value.as_str()));
        format!("?{}", write_pairs(pairs))
    }

    /// The query parameters without the page.
    pub(in crate::admin) fn pairs(&self) -> Vec<(&'static str, String)> {
        let mut pairs = Vec::new();
        if !self.search.is_empty() {
            pairs.push(("q", self.search.clone()));
        }
        if self.is_ordered {
            pairs.push(("o", order_text(&self.order)));
        }
        pairs.extend(self.filters.iter().cloned());
        pairs.extend(self.dates.pairs());
        if self.shows_counts {
            pairs.push(("_facets", "1".to_owned()));
        }
        pairs
    }

    /// The query as parameters of the API's lists, which the service functions take.
    pub(in crate::admin) fn parameters(&self) -> Parameters {
        let mut parameters = Parameters::of("search", &self.search);
        parameters.set("page", self.page.to_string());
        parameters.set("page_size", self.size.to_string());
        let order: Vec<String> = self
            .order
            .iter()
            .filter_map(|(column, descends)| {
                let name = self.about.columns.get(*column)?.name;
                Some(format!("{}{name}", if *descends { "-" } else { "" }))
            })
            .collect();
        parameters.set("ordering", order.join(","));
        for (name, value) in &self.filters {
            let mut filters = self.about.filters.iter();
            let filter = filters.find(|filter| filter.name == *name);
            let value = match (filter.map(|filter| filter.kind), value.as_str()) {
                (Some(ModelFilterKind::Truth), "1") => "true",
                (Some(ModelFilterKind::Truth), _) => "false",
                (_, value) => value,
            };
            parameters.set(name, value);
        }
        if let Some((from, to)) = self.dates.days() {
            parameters.set("date_from", from);
            parameters.set("date_to", to);
        }
        parameters
    }
}

fn searched(text: &str) -> Parameters {
    Parameters::of("search", text)
}

/// Parses an order such as `-5.1`: column numbers from 1, `-` for descending, the primary key
/// first.
fn order_of(about: &ModelDescription, text: &str) -> Result<Vec<(usize, bool)>, InvalidParameters> {
    let mut order: Vec<(usize, bool)> = Vec::new();
    for part in text.split('.').filter(|part| !part.is_empty()) {
        let (number, descends) = part
            .strip_prefix('-')
            .map_or((part, false), |number| (number, true));
        let column = number
            .parse::<usize>()
            .ok()
            .and_then(|number| number.checked_sub(1))
            .ok_or(InvalidParameters)?;
        let is_sorted = about
            .columns
            .get(column)
            .is_some_and(|column| column.is_sorted);
        if !is_sorted {
            return Err(InvalidParameters);
        }
        if !order.iter().any(|(other, _)| *other == column) {
            order.push((column, descends));
        }
    }
    Ok(order)
}

/// The inverse of [`order_of`].
fn order_text(order: &[(usize, bool)]) -> String {
    let parts: Vec<String> = order
        .iter()
        .map(|(column, descends)| format!("{}{}", if *descends { "-" } else { "" }, column + 1))
        .collect();
    parts.join(".")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admin::registry;

    #[test]
    fn links_keep_everything_but_the_page() {
        let products = &registry::find("products").unwrap().about;
        let query = Parameters::parse("q=caf%C3%A9+preto&brand=3&p=2&o=-5.1");
        let list = ListParameters::parse(products, &query).unwrap();
        assert_eq!(
            list.with(|list| list.set("brand", None)),
            "?q=caf%C3%A9+preto&o=-5.1"
        );
        assert_eq!(list.href(), "?q=caf%C3%A9+preto&o=-5.1&brand=3&p=2");
        assert_eq!(list.words(), ["cafe", "preto"]);
    }
}
