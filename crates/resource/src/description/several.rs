//! Fields that hold several of the offered values.

use std::{fmt, str::FromStr};

use db::{Error, Row};

use super::{
    field::Field,
    record::Source,
    value::{FieldType, Named, Submitted, Value, column},
};

/// A value of which a field holds several. They are stored in one text, or read from another table
/// as one text.
pub trait Choosable: Sized + fmt::Debug + Sync {
    /// The type of a submitted value.
    type Submitted: Choosable + FromStr;

    /// Parses one stored value. `None` if the program does not know it.
    fn stored(text: &str) -> Option<Self>;

    /// The value in forms.
    fn value(&self) -> String;

    /// The label.
    fn text(&self) -> String {
        self.value()
    }
}

/// The values of a field that holds several.
pub trait Several: fmt::Debug + Sync {
    /// Each value with its label.
    fn each(&self) -> Vec<(String, String)>;
}

/// The separator of stored values. No value contains it.
pub const SEPARATOR: char = '\u{1f}';

impl Choosable for Named {
    type Submitted = i64;

    fn stored(text: &str) -> Option<Self> {
        let (id, name) = text.split_once(' ')?;
        Some(Self {
            id: id.parse().ok()?,
            name: name.to_owned(),
        })
    }

    fn value(&self) -> String {
        self.id.to_string()
    }

    fn text(&self) -> String {
        self.name.clone()
    }
}

impl Choosable for i64 {
    type Submitted = Self;

    fn stored(text: &str) -> Option<Self> {
        text.parse().ok()
    }

    fn value(&self) -> String {
        self.to_string()
    }
}

impl<T: Choosable> Several for Vec<T> {
    fn each(&self) -> Vec<(String, String)> {
        let each = self.iter();
        each.map(|one| (one.value(), one.text())).collect()
    }
}

impl dyn Several + '_ {
    /// The values in forms.
    pub fn values(&self) -> Vec<String> {
        self.each().into_iter().map(|(value, _)| value).collect()
    }
}

impl PartialEq for dyn Several + '_ {
    fn eq(&self, other: &Self) -> bool {
        self.values() == other.values()
    }
}

impl Eq for dyn Several + '_ {}

/// The values are sorted by their labels.
impl<T: Choosable> FieldType for Vec<T> {
    type Submitted = Vec<T::Submitted>;

    fn value(&self) -> Option<Value<'_>> {
        Some(Value::Several(self))
    }

    fn from_row(row: &Row<'_>, at: &mut usize) -> Result<Self, Error> {
        let text: Option<String> = column(row, at)?;
        let each = text.iter().flat_map(|text| text.split(SEPARATOR));
        let mut several: Self = each.filter_map(T::stored).collect();
        several.sort_by_cached_key(Choosable::text);
        Ok(several)
    }
}

impl<T: Choosable + FromStr> Submitted for Vec<T> {
    fn read(source: &mut impl Source, field: &'static Field) -> Option<Self> {
        let read = |value: &String| value.parse().ok();
        source
            .several(field)
            .map(|values| values.iter().filter_map(read).collect())
    }

    fn sent(&self) -> Value<'_> {
        Value::Several(self)
    }
}
