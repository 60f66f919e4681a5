//! The description of one field. A builder is generic over the field's Rust type, so that the two
//! cannot disagree.

use std::marker::PhantomData;

use web::locale::Locale;

use super::{
    choice::Choice,
    listed::Listed,
    several::Several,
    value::{Amount, FieldType, Naming, Refers, Text, Value},
};

/// Portuguese and English.
pub type Both = (&'static str, &'static str);

/// One field of a resource.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a word of its own in a description"
)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// Its name in bodies, files and statements.
    pub name: &'static str,
    /// What people call it.
    pub label: Both,
    /// The same over a column, where there is little room.
    pub short: Both,
    /// The same beside its control in an everyday form.
    pub form_label: Both,
    /// A sentence that helps whoever fills it in; empty where none is needed.
    pub help: Both,
    /// The heading of the part of a form that begins with it.
    pub section: Option<Both>,
    /// What it holds, with its bounds.
    pub kind: Kind,
    /// Of a reference, or of several: the records that it refers to.
    pub target: Option<Target>,
    /// Where a value stands that other code writes; statements on the record's own table leave it
    /// out.
    pub source: Option<&'static str>,
    /// The parameters by which a list is narrowed to values from one on, and up to another.
    pub bounds: Option<(&'static str, &'static str)>,
    /// Whether it may be left out, and be nothing.
    pub is_nullable: bool,
    /// Whether clients only read it.
    pub is_read_only: bool,
    /// Whether it is what people call the record: lists begin with it.
    pub is_name: bool,
    /// Whether pages and files do without it, because another field says the same, or because it is
    /// for the program.
    pub is_hidden: bool,
    /// Whether it may be blank without being nothing.
    pub may_be_blank: bool,
    /// Whether nothing is stored beside a text: its lists are short enough to be searched and
    /// sorted as they are read.
    pub is_unfolded: bool,
    /// Whether a list is narrowed by it. By a reference it always is.
    pub is_filtered: bool,
    /// Whether a blank text is nothing, so that two records without one do not share it.
    pub is_null_when_blank: bool,
    /// Whether bar codes are scanned into it.
    pub is_scanned: bool,
    /// Whether a list on a phone does without it.
    pub is_minor: bool,
    /// Whether it tells who a person is: a history says that it changed, and not what it was.
    pub is_personal: bool,
    /// Whether it is an address of a person.
    pub is_email: bool,
    /// Whether it is a password: no page shows it again.
    pub is_secret: bool,
    /// Which lists show it.
    pub listed: Listed,
}

/// The records that a reference refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Target {
    /// Their place in addresses, and their table.
    pub path: &'static str,
    /// Their field with what people call them.
    pub name: &'static str,
    /// The schema of what is shown of them.
    pub schema: &'static str,
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
    /// Another number with the digits of a price.
    Decimal,
    /// Yes or no.
    Truth,
    /// One of these: their names, and what people call them.
    Choice(&'static [(&'static str, Both)]),
    /// Several of what there is to choose from.
    Several,
    /// The id of another record.
    Reference,
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

/// A text that clients are given and that may have any length, such as a token.
pub const fn token<T: Text>(portuguese: &'static str, english: &'static str) -> Typed<T> {
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

/// A number with the digits of a price that is none, such as a weight.
pub const fn decimal<T: FieldType>(portuguese: &'static str, english: &'static str) -> Typed<T> {
    Typed::new((portuguese, english), Kind::Decimal)
}

/// Another record, by the place of its kind in addresses, which is its table.
pub const fn reference<T: Refers>(
    portuguese: &'static str,
    english: &'static str,
    path: &'static str,
) -> Typed<T> {
    let mut typed = Typed::new((portuguese, english), Kind::Reference);
    typed.0.target = Some(Target {
        path,
        name: T::NAME,
        schema: T::SCHEMA,
    });
    typed
}

/// Yes or no: a box that is ticked or not.
pub const fn truth(portuguese: &'static str, english: &'static str) -> Typed<bool> {
    Typed::new((portuguese, english), Kind::Truth)
}

/// One of the values of an enum.
pub const fn chosen<T: Choice>(portuguese: &'static str, english: &'static str) -> Typed<T> {
    Typed::new((portuguese, english), Kind::Choice(T::CHOICES)).read_only()
}

/// Several of what a place in addresses offers.
pub const fn several<T: FieldType + Several>(
    portuguese: &'static str,
    english: &'static str,
    path: &'static str,
) -> Typed<T> {
    let mut typed = Typed::new((portuguese, english), Kind::Several);
    typed.0.target = Some(Target {
        path,
        name: "",
        schema: "",
    });
    typed
}

impl<T: FieldType> Typed<T> {
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
            is_email: false,
            is_secret: false,
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
        self.0.listed = Listed::EditedInList;
        self
    }

    /// Called otherwise over a column, where there is little room.
    #[must_use]
    pub const fn short(mut self, portuguese: &'static str, english: &'static str) -> Self {
        self.0.short = (portuguese, english);
        self
    }

    /// Called otherwise beside its control in an everyday form.
    #[must_use]
    pub const fn form_label(mut self, portuguese: &'static str, english: &'static str) -> Self {
        self.0.form_label = (portuguese, english);
        self
    }

    /// With a sentence that helps whoever fills it in.
    #[must_use]
    pub const fn help(mut self, portuguese: &'static str, english: &'static str) -> Self {
        self.0.help = (portuguese, english);
        self
    }

    /// The first of a part of a form.
    #[must_use]
    pub const fn section(mut self, portuguese: &'static str, english: &'static str) -> Self {
        self.0.section = Some((portuguese, english));
        self
    }

    /// Read from a place that other code writes.
    #[must_use]
    pub const fn read_from(mut self, source: &'static str) -> Self {
        self.0.source = Some(source);
        self
    }

    /// Pages and files do without it.
    #[must_use]
    pub const fn hidden(mut self) -> Self {
        self.0.is_hidden = true;
        self
    }

    /// Lists are narrowed by it.
    #[must_use]
    pub const fn filtered(mut self) -> Self {
        self.0.is_filtered = true;
        self
    }

    /// A list on a phone does without it.
    #[must_use]
    pub const fn minor(mut self) -> Self {
        self.0.is_minor = true;
        self
    }

    /// It tells who a person is.
    #[must_use]
    pub const fn personal(mut self) -> Self {
        self.0.is_personal = true;
        self
    }

    /// The description, under the field's name.
    #[must_use]
    pub const fn named(mut self, name: &'static str) -> Field {
        self.0.name = name;
        self.0
    }
}

impl<T: Naming> Typed<T> {
    /// What people call the record: lists begin with it.
    #[must_use]
    pub const fn name(mut self) -> Self {
        self.0.is_name = true;
        self
    }
}

impl Typed<Option<String>> {
    /// A blank text is nothing.
    #[must_use]
    pub const fn null_when_blank(mut self) -> Self {
        self.0.is_null_when_blank = true;
        self
    }

    /// Bar codes are scanned into it.
    #[must_use]
    pub const fn scanned(mut self) -> Self {
        self.0.is_scanned = true;
        self
    }
}

impl Typed<String> {
    /// It may be blank.
    #[must_use]
    pub const fn or_blank(mut self) -> Self {
        self.0.may_be_blank = true;
        self
    }

    /// It is an address of a person.
    #[must_use]
    pub const fn email(mut self) -> Self {
        self.0.is_email = true;
        self
    }

    /// It is a password.
    #[must_use]
    pub const fn secret(mut self) -> Self {
        self.0.is_secret = true;
        self
    }
}

impl<T: Amount> Typed<T> {
    /// Lists are narrowed to values from one on, and up to another, by parameters of these names.
    #[must_use]
    pub const fn between(mut self, least: &'static str, greatest: &'static str) -> Self {
        self.0.bounds = Some((least, greatest));
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

    /// Nothing is stored beside it.
    #[must_use]
    pub const fn unfolded(mut self) -> Self {
        self.0.is_unfolded = true;
        self
    }
}

impl Field {
    /// Whether a new record must have it. A box that is not ticked is not sent.
    pub const fn is_required(&self) -> bool {
        let may_be_left = self.is_nullable || self.may_be_blank || self.is_read_only;
        !may_be_left && !matches!(self.kind, Kind::Truth | Kind::Several)
    }

    /// Whether it is a text of many lines.
    pub const fn is_long(&self) -> bool {
        matches!(self.kind, Kind::LongText { .. })
    }

    /// A value of it as people read it; empty for nothing. An id is a name, and is not written as a
    /// number is.
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

    /// Whether it is an amount in reais.
    pub const fn is_price(&self) -> bool {
        matches!(self.kind, Kind::Price)
    }

    /// Whether it holds several values, each ticked in a box of its own.
    pub const fn is_many(&self) -> bool {
        matches!(self.kind, Kind::Several)
    }

    /// Whether it holds numbers.
    pub const fn is_number(&self) -> bool {
        matches!(
            self.kind,
            Kind::Integer { .. } | Kind::Price | Kind::Decimal
        )
    }
}
