//! The columns of each resource's files, derived from the field descriptions. A column has the
//! field's name or label. For a reference, an import also accepts a column with the name of the
//! referenced record.

use std::sync::LazyLock;

use resource::{Both, Field, Record as _, in_a_sentence};
use web::locale::Locale;

use super::FileKind;
use crate::{
    access::Model,
    catalogue::{
        named::{self, NamedRecord},
        products::ProductRecord,
    },
    names,
    rest::Message,
    stock::movements::MovementRecord,
};

/// How a reference is looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReferenceKey {
    Name(named::Kind),
    Title,
    SerieNumber,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileColumn {
    pub(super) name: &'static str,
    /// Labels that imports accept, too. Case, accents and underscores do not matter.
    label: Both,
    /// The field that the column sets.
    pub(super) field: &'static Field,
    /// How names in the column are looked up, if it is a reference.
    pub(super) key: Option<ReferenceKey>,
    pub(super) is_required: bool,
}

/// The columns by name that an import accepts instead of reference columns: `category_name`.
static BY_NAME: LazyLock<Vec<FileColumn>> = LazyLock::new(|| {
    let fields = [ProductRecord::FIELDS, MovementRecord::FIELDS];
    let columns = fields.into_iter().flatten().flat_map(|field| {
        let key = ReferenceKey::of(field);
        let by_name = key.map(|key| FileColumn::by_name(field, key));
        let is_product = key == Some(ReferenceKey::Title);
        let by_number = is_product.then(|| FileColumn::by_name(field, ReferenceKey::SerieNumber));
        by_name.into_iter().chain(by_number)
    });
    columns.collect()
});

impl ReferenceKey {
    /// How the records that a field refers to are looked up.
    fn of(field: &Field) -> Option<Self> {
        let path = field.target?.path;
        let kind = named::Kind::ALL
            .into_iter()
            .find(|kind| kind.path() == path);
        Some(kind.map_or(Self::Title, Self::Name))
    }
}

impl FileColumn {
    fn of(field: &'static Field) -> Self {
        Self {
            name: field.name,
            label: field.label,
            field,
            key: ReferenceKey::of(field),
            is_required: field.is_required(),
        }
    }

    /// The column with the name of the referenced record: `Nome da categoria`.
    fn by_name(field: &'static Field, key: ReferenceKey) -> Self {
        let (words, name) = match key {
            ReferenceKey::Name(kind) => (kind.model().words(), NamedRecord::name),
            ReferenceKey::Title => (Model::Product.words(), ProductRecord::title),
            ReferenceKey::SerieNumber => (Model::Product.words(), ProductRecord::serie_number),
        };
        let (preposition, label) = (words.ending("do", "da"), name.label);
        let portuguese = format!("{} {preposition} {}", label.0, words.one(Locale::PtBr));
        let english = format!("{} {}", words.name(Locale::En), in_a_sentence(label.1));
        Self {
            name: format!("{}_{}", field.name, name.name).leak(),
            label: (portuguese.leak(), english.leak()),
            field,
            key: Some(key),
            is_required: false,
        }
    }

    /// Whether the column always contains names, never ids.
    pub(super) fn is_by_name(&self) -> bool {
        self.name != self.field.name
    }

    fn is_called(&self, name: &str) -> bool {
        let plain = |name: &str| -> String {
            let name = db::fold(name).replace('_', " ");
            name.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        let name = plain(name);
        [self.name, self.label.0, self.label.1]
            .into_iter()
            .any(|own| plain(own) == name)
    }
}

/// The heading of a field's column in a file for users. A reference column contains names.
pub(crate) fn heading(field: &Field, locale: Locale) -> &'static str {
    let by_name = BY_NAME.iter().find(|column| *column.field == *field);
    let (portuguese, english) = by_name.map_or(field.label, |column| column.label);
    locale.text(portuguese, english)
}

/// The label of a column in error messages.
pub(crate) fn label(name: &'static str, locale: Locale) -> &'static str {
    let by_name = BY_NAME.iter().find(|column| column.name == name);
    by_name.map_or_else(
        || names::field(locale, name),
        |column| locale.text(column.label.0, column.label.1),
    )
}

/// The headings of an empty file to fill in: the fields of a new record.
pub(crate) fn template(resource: FileKind, locale: Locale) -> Vec<&'static str> {
    let fields = fields(resource).iter();
    let editable = fields.filter(|field| !field.is_read_only && !field.is_hidden);
    editable.map(|field| heading(field, locale)).collect()
}

pub(super) fn fields(resource: FileKind) -> &'static [&'static Field] {
    match resource {
        FileKind::Named(_) => NamedRecord::FIELDS,
        FileKind::Products => ProductRecord::FIELDS,
        FileKind::Movements(movement) => movement.fields(),
    }
}

pub(super) fn exported(resource: FileKind) -> impl Iterator<Item = FileColumn> {
    let fields = fields(resource).iter().copied();
    fields.filter(|field| !field.is_hidden).map(FileColumn::of)
}

/// The columns that an import accepts instead of reference columns.
fn by_name(resource: FileKind) -> impl Iterator<Item = FileColumn> {
    let fields = fields(resource);
    let columns = BY_NAME.iter().copied();
    columns.filter(|column| fields.contains(&column.field))
}

/// Parses the header row. The error names every unknown, duplicate and missing column.
pub(super) fn of_header(resource: FileKind, names: &[String]) -> Result<Vec<FileColumn>, Message> {
    let accepted = || exported(resource).chain(by_name(resource));
    let mut columns: Vec<FileColumn> = Vec::new();
    let mut wrong = Vec::new();
    for name in names {
        match accepted().find(|column| column.is_called(name)) {
            None => {
                let name: String = name.chars().take(100).collect();
                wrong.push((
                    format!("coluna desconhecida “{name}”"),
                    format!("unknown column “{name}”"),
                ));
            }
            Some(column) if columns.iter().any(|other| other.field == column.field) => {
                let name = column.name;
                wrong.push((
                    format!("a coluna {} aparece duas vezes", column.label.0),
                    format!("column {name} appears twice, or beside another with the same meaning"),
                ));
            }
            Some(column) => columns.push(column),
        }
    }
    for needed in exported(resource).filter(|column| column.is_required) {
        if columns.iter().all(|column| column.field != needed.field) {
            wrong.push((
                format!("falta a coluna {}", needed.label.0),
                format!("column {} is missing", needed.name),
            ));
        }
    }
    if wrong.is_empty() {
        return Ok(columns);
    }
    let in_portuguese: Vec<&str> = accepted().map(|column| column.label.0).collect();
    let in_portuguese = in_portuguese.join(", ");
    let allowed: Vec<&str> = accepted().map(|column| column.name).collect();
    let allowed = allowed.join(", ");
    let (portuguese, english): (Vec<_>, Vec<_>) = wrong.into_iter().unzip();
    Err(Message::new(
        format!(
            "{}. Colunas permitidas: {in_portuguese}.",
            portuguese.join("; ")
        ),
        format!("{}. Allowed columns: {allowed}.", english.join("; ")),
    ))
}
