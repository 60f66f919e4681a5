//! Inlines: tables of related records in the form of the record that they refer to.

/// A table of the records of another model that refer to the record of the form.
#[derive(Debug)]
pub(in crate::admin) struct Inline {
    /// The path of the other model.
    pub(in crate::admin) path: &'static str,
    /// The reference field of the other model, which is also the name of its filter.
    pub(in crate::admin) key: &'static str,
    /// The fields to show.
    pub(in crate::admin) columns: &'static [&'static str],
    /// The columns that can be edited. Empty for a read-only table.
    pub(in crate::admin) fields: &'static [&'static str],
    /// Whether rows have a checkbox to delete them.
    pub(in crate::admin) is_deleted: bool,
    /// The most existing records to show. A link leads to the list of the others.
    pub(in crate::admin) shown: u64,
    /// The number of empty rows for new records.
    pub(in crate::admin) extra: usize,
    pub(in crate::admin) limit: Limit,
}

/// The most rows of a table.
#[derive(Debug, Clone, Copy)]
pub(in crate::admin) enum Limit {
    /// Existing and new rows together.
    InAll(usize),
    /// New rows per form.
    AtOnce(usize),
}

impl Inline {
    /// A read-only table of the first five related records.
    pub(in crate::admin) const fn read(
        path: &'static str,
        key: &'static str,
        columns: &'static [&'static str],
    ) -> Self {
        Self {
            path,
            key,
            columns,
            fields: &[],
            is_deleted: false,
            shown: 5,
            extra: 0,
            limit: Limit::AtOnce(0),
        }
    }

    /// Adds a checkbox to each row that deletes it.
    pub(in crate::admin) const fn deleted(self) -> Self {
        Self {
            is_deleted: true,
            ..self
        }
    }
}
