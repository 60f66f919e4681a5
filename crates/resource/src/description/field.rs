//! The description of one field. The builder is generic over the field's Rust type, so that
//! description and type agree.

use std::marker::PhantomData;

use web::locale::Locale;

use super::{
    choice::Choice,
    several::Several,
    value::{FieldType, Refers, Value},
};

/// A text in Portuguese and English.
pub type Both = (&'static str, &'static str);

/// One field of a resource.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a word of its own in a description"
)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// The name in bodies, files and statements.
    pub name: &'static str,
    /// The label.
    pub label: Both,
    /// A short label for column headings.
    pub short: Both,
    /// The label in forms of the web interface.
    pub form_label: Both,
    /// A hint for the form; empty for none.
    pub help: Both,
    /// The heading of the section of a form that begins with this field.
    pub section: Option<Both>,
    /// The kind of values, with their bounds.
    pub kind: Kind,
    /// For references and choices: the records that it refers to.
    pub target: Option<Target>,
    /// The SQL expression that it is read from, if other code writes the value. Statements on the
    /// record's own table leave it out.
    pub source: Option<&'static str>,
    /// The parameters that filter a list by the least and the greatest value.
    pub bounds: Option<(&'static str, &'static str)>,
    /// Whether it may be null.
    pub is_nullable: bool,
    /// Whether clients cannot write it.
    pub is_read_only: bool,
    /// Whether it is the record's name, which is the first column of lists.
    pub is_name: bool,
    /// Whether pages and files omit it, because another field shows the same, or because only
    /// programs need it.
    pub is_hidden: bool,
    /// Whether an empty text is a valid value.
    pub may_be_blank: bool,
    /// Whether a text has no folded column. Its lists are short enough to be searched and sorted in
    /// memory.
    pub is_unfolded: bool,
    /// Whether lists can be filtered by it. References always can.
    pub is_filtered: bool,
    /// Whether an empty text becomes null, so that a unique column may be empty in several records.
    pub is_null_when_blank: bool,
    /// Whether bar codes are scanned into it.
    pub is_scanned: bool,
    /// Whether lists hide it on phones.
    pub is_minor: bool,
    /// Whether it is personal data. The history then shows that it changed, but not its values.
    pub is_personal: bool,
    /// The `type` of a text's control: `text`, `email` or `url`.
    pub control: &'static str,
    /// Whether it is a password, which pages never show.
    pub is_secret: bool,
    /// The lists that show it.
    pub listed: ListedIn,
}

/// The records that a reference points to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Target {
    /// The path, which is also the table.
    pub path: &'static str,
    /// The column of the name.
    pub name: &'static str,
    /// The schema of the reference.
    pub schema: &'static str,
}

/// The kind of values of a field, with their bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The record's id.
    Id,
    /// A time.
    Time,
    /// A text of one line.
    Text {
        /// The most characters.
        max: usize,
    },
    /// A text of several lines.
    LongText {
        /// The most characters.
        max: usize,
    },
    /// A token of any length.
    Token,
    /// An integer.
    Integer {
        /// The least value.
        min: i64,
        /// The greatest value.
        max: i64,
    },
    /// A price.
    Price,
    /// A decimal number with the digits of a price.
    Decimal,
    /// A boolean.
    Truth,
    /// One of these values: names and labels.
    Choice(&'static [(&'static str, Both)]),
    /// Several values to choose from.
    Several,
    /// A reference to another record by its id.
    Reference,
}

/// The lists that show a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ListedIn {
    /// No list.
    Nowhere,
    /// The list of the administration.
    ForStaff,
    /// Also the list of the web interface.
    Everywhere,
    /// Both lists; that of the administration can edit it.
    EditedInList,
}

/// The description of a field of the Rust type `T`.
#[derive(Debug)]
pub struct FieldOf<T>(Field, PhantomData<fn() -> T>);

/// The id of a record.
pub const fn id() -> FieldOf<i64> {
    FieldOf::new(("ID", "ID"), Kind::Id).read_only()
}

/// A time that the service sets.
pub const fn time<T: FieldType>(portuguese: &'static str, english: &'static str) -> FieldOf<T> {
    FieldOf::new((portuguese, english), Kind::Time).read_only()
}

/// A text of at most `max` characters.
pub const fn text<T: FieldType>(
    portuguese: &'static str,
    english: &'static str,
    max: usize,
) -> FieldOf<T> {
    FieldOf::new((portuguese, english), Kind::Text { max })
}

/// A text of any length that the service issues, such as a token.
pub const fn token<T: FieldType>(portuguese: &'static str, english: &'static str) -> FieldOf<T> {
    FieldOf::new((portuguese, english), Kind::Token)
}

/// An integer between two bounds.
///
/// # Panics
///
/// At compile time, if `min` is above `max`.
pub const fn integer<T: FieldType>(
    portuguese: &'static str,
    english: &'static str,
    min: i64,
    max: i64,
) -> FieldOf<T> {
    assert!(min <= max, "the smallest value is above the largest");
    FieldOf::new((portuguese, english), Kind::Integer { min, max })
}

/// A price.
pub const fn price<T: FieldType>(portuguese: &'static str, english: &'static str) -> FieldOf<T> {
    FieldOf::new((portuguese, english), Kind::Price)
}

/// A decimal number that is not a price, such as a weight.
pub const fn decimal<T: FieldType>(portuguese: &'static str, english: &'static str) -> FieldOf<T> {
    FieldOf::new((portuguese, english), Kind::Decimal)
}

/// A reference to records with this path, which is also their table.
pub const fn reference<T: Refers>(
    portuguese: &'static str,
    english: &'static str,
    path: &'static str,
) -> FieldOf<T> {
    let mut typed = FieldOf::new((portuguese, english), Kind::Reference);
    typed.0.target = Some(Target {
        path,
        name: T::NAME,
        schema: T::SCHEMA,
    });
    typed
}

/// A boolean, shown as a checkbox.
pub const fn truth(portuguese: &'static str, english: &'static str) -> FieldOf<bool> {
    FieldOf::new((portuguese, english), Kind::Truth)
}

/// A value of an enum.
pub const fn chosen<T: Choice>(portuguese: &'static str, english: &'static str) -> FieldOf<T> {
    FieldOf::new((portuguese, english), Kind::Choice(T::CHOICES)).read_only()
}

/// Several of the values that `path` offers.
pub const fn several<T: FieldType + Several>(
    portuguese: &'static str,
    english: &'static str,
    path: &'static str,
) -> FieldOf<T> {
    let mut typed = FieldOf::new((portuguese, english), Kind::Several);
    typed.0.target = Some(Target {
        path,
        name: "",
        schema: "",
    });
    typed
}

impl<T: FieldType> FieldOf<T> {
    const fn new(label: Both, kind: Kind) -> Self {
        let field = Field {
            name: "",
            label,
            short: label,
            form_label: label,
            help: ("", ""),
            section: None,
            kind,
            target: None,
            source: None,
            bounds: None,
            is_nullable: T::IS_NULLABLE,
            is_read_only: false,
            is_name: false,
            is_hidden: false,
            may_be_blank: false,
            is_unfolded: false,
            is_filtered: false,
            is_null_when_blank: false,
            is_scanned: false,
            is_minor: false,
            is_personal: false,
            control: "text",
            is_secret: false,
            listed: ListedIn::Nowhere,
        };
        Self(field, PhantomData)
    }

    /// Clients cannot write the field.
    #[must_use]
    pub const fn read_only(mut self) -> Self {
        self.0.is_read_only = true;
        self
    }

    /// Lists show the field.
    #[must_use]
    pub const fn listed(mut self) -> Self {
        self.0.listed = ListedIn::Everywhere;
        self
    }

    /// The list of the administration shows the field.
    #[must_use]
    pub const fn listed_for_staff(mut self) -> Self {
        self.0.listed = ListedIn::ForStaff;
        self
    }

    /// Lists show the field, and the list of the administration edits it.
    #[must_use]
    pub const fn edited_in_list(mut self) -> Self {
        self.0.listed = ListedIn::EditedInList;
        self
    }

    /// Sets the short label for column headings.
    #[must_use]
    pub const fn short(mut self, portuguese: &'static str, english: &'static str) -> Self {
        self.0.short = (portuguese, english);
        self
    }

    /// Sets the label in forms of the web interface.
    #[must_use]
    pub const fn form_label(mut self, portuguese: &'static str, english: &'static str) -> Self {
        self.0.form_label = (portuguese, english);
        self
    }

    /// Sets the hint for the form.
    #[must_use]
    pub const fn help(mut self, portuguese: &'static str, english: &'static str) -> Self {
        self.0.help = (portuguese, english);
        self
    }

    /// Begins a section of the form with this heading.
    #[must_use]
    pub const fn section(mut self, portuguese: &'static str, english: &'static str) -> Self {
        self.0.section = Some((portuguese, english));
        self
    }

    /// Sets the SQL expression that the field is read from; other code writes the value.
    #[must_use]
    pub const fn read_from(mut self, source: &'static str) -> Self {
        self.0.source = Some(source);
        self
    }

    /// Pages and files omit the field.
    #[must_use]
    pub const fn hidden(mut self) -> Self {
        self.0.is_hidden = true;
        self
    }

    /// Lists can be filtered by the field.
    #[must_use]
    pub const fn filtered(mut self) -> Self {
        self.0.is_filtered = true;
        self
    }

    /// Lists hide the field on phones.
    #[must_use]
    pub const fn minor(mut self) -> Self {
        self.0.is_minor = true;
        self
    }

    /// The field is personal data.
    #[must_use]
    pub const fn personal(mut self) -> Self {
        self.0.is_personal = true;
        self
    }

    /// Finishes the description with the field's name.
    #[must_use]
    pub const fn named(mut self, name: &'static str) -> Field {
        self.0.name = name;
        self.0
    }

    /// The field is the record's name, which is the first column of lists.
    #[must_use]
    pub const fn name(mut self) -> Self {
        self.0.is_name = true;
        self
    }

    /// An empty text becomes null.
    #[must_use]
    pub const fn null_when_blank(mut self) -> Self {
        self.0.is_null_when_blank = true;
        self
    }

    /// Bar codes are scanned into the field.
    #[must_use]
    pub const fn scanned(mut self) -> Self {
        self.0.is_scanned = true;
        self
    }

    /// An empty text is a valid value.
    #[must_use]
    pub const fn or_blank(mut self) -> Self {
        self.0.may_be_blank = true;
        self
    }

    /// The field is an email address.
    #[must_use]
    pub const fn email(mut self) -> Self {
        self.0.control = "email";
        self
    }

    /// The field is the address of a web page or service.
    #[must_use]
    pub const fn url(mut self) -> Self {
        self.0.control = "url";
        self
    }

    /// The field is a password.
    #[must_use]
    pub const fn secret(mut self) -> Self {
        self.0.is_secret = true;
        self
    }

    /// Lists can be filtered by a least and a greatest value, with these parameters.
    #[must_use]
    pub const fn between(mut self, least: &'static str, greatest: &'static str) -> Self {
        self.0.bounds = Some((least, greatest));
        self
    }

    /// The text has several lines. Lists are sorted by its beginning.
    #[must_use]
    pub const fn long(mut self) -> Self {
        if let Kind::Text { max } = self.0.kind {
            self.0.kind = Kind::LongText { max };
        }
        self
    }

    /// The text has no folded column.
    #[must_use]
    pub const fn unfolded(mut self) -> Self {
        self.0.is_unfolded = true;
        self
    }
}

impl Field {
    /// Whether a new record needs a value. An unticked checkbox is not sent, so booleans and
    /// choices need none.
    pub const fn is_required(&self) -> bool {
        let may_be_left = self.is_nullable || self.may_be_blank || self.is_read_only;
        !may_be_left && !matches!(self.kind, Kind::Truth | Kind::Several)
    }

    /// Whether it is a text of several lines.
    pub const fn is_long(&self) -> bool {
        matches!(self.kind, Kind::LongText { .. })
    }

    /// A value, formatted for people; empty for null. An id has no thousands separators.
    pub fn shown(&self, value: Value<'_>, locale: Locale) -> String {
        match value {
            Value::Integer(integer) if self.kind != Kind::Id => locale.number(integer),
            Value::Money(number) if self.kind == Kind::Decimal => locale.decimal(number),
            Value::Money(money) => locale.money(money),
            Value::Time(time) => locale.date_time(time),
            Value::Choice(_, (portuguese, english)) => locale.text(portuguese, english).to_owned(),
            Value::Reference { name, .. } => name.to_owned(),
            value => value.typed(),
        }
    }

    /// Whether it is an amount of money.
    pub const fn is_price(&self) -> bool {
        matches!(self.kind, Kind::Price)
    }

    /// Whether it holds several values, with a checkbox each.
    pub const fn is_many(&self) -> bool {
        matches!(self.kind, Kind::Several)
    }

    /// Whether it holds a number.
    pub const fn is_number(&self) -> bool {
        matches!(
            self.kind,
            Kind::Integer { .. } | Kind::Price | Kind::Decimal
        )
    }
}
