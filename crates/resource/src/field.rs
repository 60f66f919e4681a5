//! The description of one field. A builder is generic over the field's Rust type, so that the two cannot disagree.

use std::marker::PhantomData;

use web::locale::Locale;

use super::value::{FieldType, Text, Value};

/// Portuguese and English.
pub type Both = (&'static str, &'static str);

/// One field of a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// Its name in bodies, files and statements.
    pub name: &'static str,
    /// What people call it.
    pub label: Both,
    /// What it holds, with its bounds.
    pub kind: Kind,
    /// Whether it may be left out, and be nothing.
    pub is_nullable: bool,
    /// Whether clients only read it.
    pub is_read_only: bool,
    /// Whether it is what people call the record.
    pub is_name: bool,
    /// Which lists show it.
    pub listed: Listed,
}

/// What a field holds, with its bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The id that a record is given.
    Id,
    /// A moment.
    Time,
    /// A text of one line, of at most so many characters.
    Text {
        /// Characters.
        max: usize,
    },
    /// A text of many lines.
    LongText {
        /// Characters.
        max: usize,
    },
    /// A token, of any length.
    Token,
    /// A whole number between two bounds.
    Integer {
        /// The least.
        min: i64,
        /// The greatest.
        max: i64,
    },
    /// A price.
    Price,
    /// The id of another record.
    Reference,
}

/// Which lists show a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Listed {
    /// None.
    Nowhere,
    /// That of the administration.
    ForStaff,
    /// This and the everyday one.
    Everywhere,
    /// Both, and that of the administration writes it too.
    Edited,
}

/// The description of a field of this Rust type.
#[derive(Debug)]
pub struct Typed<T>(Field, PhantomData<fn() -> T>);

/// The id of a record.
pub const fn id() -> Typed<i64> {
    Typed::new(("ID", "ID"), Kind::Id).read_only()
}

/// A moment that the service writes down.
pub const fn time<T: FieldType>(portuguese: &'static str, english: &'static str) -> Typed<T> {
    Typed::new((portuguese, english), Kind::Time).read_only()
}

/// A text of at most so many characters.
pub const fn text<T: Text>(
    portuguese: &'static str,
    english: &'static str,
    max: usize,
) -> Typed<T> {
    Typed::new((portuguese, english), Kind::Text { max })
}

/// A token, of any length.
pub const fn token(portuguese: &'static str, english: &'static str) -> Typed<String> {
    Typed::new((portuguese, english), Kind::Token)
}

/// A whole number between two bounds.
///
/// # Panics
///
/// When the program is compiled, if the smallest value is above the largest.
pub const fn integer<T: FieldType>(
    portuguese: &'static str,
    english: &'static str,
    min: i64,
    max: i64,
) -> Typed<T> {
    assert!(min <= max, "the smallest value is above the largest");
    Typed::new((portuguese, english), Kind::Integer { min, max })
}

/// A price.
pub const fn price<T: FieldType>(portuguese: &'static str, english: &'static str) -> Typed<T> {
    Typed::new((portuguese, english), Kind::Price)
}

/// The id of another record.
pub const fn reference(portuguese: &'static str, english: &'static str) -> Typed<i64> {
    Typed::new((portuguese, english), Kind::Reference)
}

impl<T: FieldType> Typed<T> {
    const fn new(label: Both, kind: Kind) -> Self {
        let field = Field {
            name: "",
            label,
            kind,
            is_nullable: T::IS_NULLABLE,
            is_read_only: false,
            is_name: false,
            listed: Listed::Nowhere,
        };
        Self(field, PhantomData)
    }

    /// A field that clients only read.
    #[must_use]
    pub const fn read_only(mut self) -> Self {
        self.0.is_read_only = true;
        self
    }

    /// Shown in lists.
    #[must_use]
    pub const fn listed(mut self) -> Self {
        self.0.listed = Listed::Everywhere;
        self
    }

    /// Shown in the list of the administration.
    #[must_use]
    pub const fn listed_for_staff(mut self) -> Self {
        self.0.listed = Listed::ForStaff;
        self
    }

    /// Shown in lists, and written in that of the administration.
    #[must_use]
    pub const fn edited_in_list(mut self) -> Self {
        self.0.listed = Listed::Edited;
        self
    }

    /// The description, under the field's name.
    #[must_use]
    pub const fn named(mut self, name: &'static str) -> Field {
        self.0.name = name;
        self.0
    }
}

impl Typed<String> {
    /// What people call the record: something can be seen of it.
    #[must_use]
    pub const fn name(mut self) -> Self {
        self.0.is_name = true;
        self
    }
}

impl<T: Text> Typed<T> {
    /// A text of many lines. Lists are ordered by its beginning.
    #[must_use]
    pub const fn long(mut self) -> Self {
        if let Kind::Text { max } = self.0.kind {
            self.0.kind = Kind::LongText { max };
        }
        self
    }
}

impl Field {
    /// Whether a new record must have it.
    pub const fn is_required(&self) -> bool {
        !self.is_nullable && !self.is_read_only
    }

    /// Whether it is a text of many lines.
    pub const fn is_long(&self) -> bool {
        matches!(self.kind, Kind::LongText { .. })
    }

    /// Whether the everyday list shows it.
    pub fn is_listed(&self) -> bool {
        self.listed >= Listed::Everywhere
    }

    /// A value of it as people read it; empty for nothing. An id is a name, and is not written as a number is.
    pub fn shown(&self, value: Value<'_>, locale: Locale) -> String {
        match value {
            Value::Integer(integer) if self.kind != Kind::Id => locale.number(integer),
            Value::Money(money) => locale.money(money),
            Value::Time(time) => locale.date_time(time),
            value => value.typed(),
        }
    }

    /// The attributes of its control in a form. Browsers count some characters as two.
    pub fn attributes(&self) -> String {
        let required = if self.is_required() { "required" } else { "" };
        let focus = if self.is_name { "autofocus" } else { "" };
        let length = match self.kind {
            Kind::Text { max } | Kind::LongText { max } => format!("maxlength=\"{}\"", 2 * max),
            _ => String::new(),
        };
        let complete = if self.is_long() {
            ""
        } else {
            "autocomplete=\"off\""
        };
        format!("{required} {length} {complete} {focus}")
    }
}

/// The names of fields, in their order.
#[expect(
    clippy::indexing_slicing,
    reason = "a constant is made, and the index stays below the length of both"
)]
pub const fn names<const N: usize>(fields: &[&Field; N]) -> [&'static str; N] {
    let mut names = [""; N];
    let mut at = 0;
    while at < N {
        names[at] = fields[at].name;
        at += 1;
    }
    names
}
