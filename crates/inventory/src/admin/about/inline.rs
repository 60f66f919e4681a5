//! Tables of other records in the form of one that they refer to.

/// Records of another model in the form of one that they refer to.
#[derive(Debug)]
pub(in crate::admin) struct Inline {
    /// The path of their model.
    pub(in crate::admin) path: &'static str,
    /// The filter and the field by which they refer to the record.
    pub(in crate::admin) key: &'static str,
    /// What is shown of each.
    pub(in crate::admin) columns: &'static [&'static str],
    /// Which of the columns are entered; none of a table that is only read.
    pub(in crate::admin) fields: &'static [&'static str],
    /// Whether a box beside each deletes it.
    pub(in crate::admin) is_deleted: bool,
    /// So many are shown; the others are in their list.
    pub(in crate::admin) shown: u64,
    /// Empty rows that the form offers.
    pub(in crate::admin) extra: usize,
    /// How many there can be.
    pub(in crate::admin) limit: Limit,
}

/// How many rows a table takes.
#[derive(Debug, Clone, Copy)]
pub(in crate::admin) enum Limit {
    /// One record has at most so many.
    InAll(usize),
    /// At most so many are added with one form.
    AtOnce(usize),
}

impl Inline {
    /// A table that is only read: the first records of a model that refer to the one of the form.
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

    /// With a box beside each row that deletes it.
    pub(in crate::admin) const fn deleted(self) -> Self {
        Self {
            is_deleted: true,
            ..self
        }
    }
}
