//! The address of a list: its path, and its state in the query string. Links change one part of the
//! state and keep the rest.

use crate::rest::query::{Parameters, with_query, write_pairs};

#[derive(Debug, Clone)]
pub(crate) struct ListAddress {
    path: String,
    /// The parameters of the state, in the order of the list's filters. Empty ones are left out.
    state: Vec<(&'static str, String)>,
    /// The order when none is chosen.
    default_ordering: &'static str,
}

impl ListAddress {
    /// The address of a list at `path`. `known` are the parameters besides `ordering`, `page` and
    /// `page_size`.
    pub(crate) fn new(
        path: impl Into<String>,
        known: impl IntoIterator<Item = &'static str>,
        default_ordering: &'static str,
        parameters: &Parameters,
    ) -> Self {
        let state = known
            .into_iter()
            .chain(["ordering", "page_size", "page"])
            .filter_map(|name| Some((name, parameters.get(name)?.trim().to_owned())));
        Self {
            path: path.into(),
            state: state.collect(),
            default_ordering,
        }
    }

    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// The parameters that the filter form must keep in hidden fields.
    pub(crate) fn kept(&self) -> impl Iterator<Item = (&str, &str)> {
        self.state
            .iter()
            .filter(|(name, _)| matches!(*name, "ordering" | "page_size"))
            .map(|(name, value)| (*name, value.as_str()))
    }

    /// The names of the filters that are set.
    pub(crate) fn filtered(&self) -> impl Iterator<Item = &str> {
        self.state
            .iter()
            .map(|(name, _)| *name)
            .filter(|name| !matches!(*name, "ordering" | "page_size" | "page"))
    }

    /// The address with its current state.
    pub(crate) fn whole(&self) -> String {
        self.with(&[])
    }

    /// The address with changed parameters. An empty value removes one.
    pub(crate) fn with(&self, changes: &[(&'static str, &str)]) -> String {
        self.written(&self.path, changes)
    }

    /// The address of a path below the list, with the list's state.
    pub(crate) fn beside(&self, below: &str, changes: &[(&'static str, &str)]) -> String {
        self.written(&format!("{}{below}", self.path), changes)
    }

    /// The first sort key, and whether it is descending.
    pub(crate) fn ordering(&self) -> (&str, bool) {
        let chosen = self.state.iter().find(|(name, _)| *name == "ordering");
        let ordering = chosen.map_or(self.default_ordering, |(_, value)| value.as_str());
        let first = ordering.split(',').next().unwrap_or_default().trim();
        match first.strip_prefix('-') {
            Some(field) => (field, true),
            None => (first, false),
        }
    }

    fn written(&self, path: &str, changes: &[(&'static str, &str)]) -> String {
        let is_other = |name: &str| changes.iter().any(|(other, _)| *other == name);
        let kept = self
            .state
            .iter()
            .filter(|(name, _)| !is_other(name))
            .map(|(name, value)| (*name, value.as_str()));
        let pairs = kept.chain(changes.iter().copied());
        let pairs = pairs.filter(|(_, value)| !value.is_empty());
        with_query(path, &write_pairs(pairs))
    }
}
