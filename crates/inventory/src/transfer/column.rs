//! The columns of each resource's files.

use resource::{Both, Field, Kind, Record as _, find};
use web::locale::Locale;

use super::Resource;
use crate::{
    catalogue::{
        named::{self, NamedRecord},
        products::ProductRecord,
    },
    names,
    rest::Message,
};

/// What the cells of a column hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    /// A text, escaped against formulas.
    Text,
    /// A whole number.
    Number,
    /// A time, which the import gives where it is blank.
    Time,
    /// A price.
    Price,
    /// Another record: its id, or what it is called.
    Reference(ReferenceKey),
    /// What a referred record is called; the reference's own column, and how it is looked up.
    Name(&'static str, ReferenceKey),
}

/// By what a reference is looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReferenceKey {
    Name(named::Kind),
    Title,
    SerieNumber,
}

impl ReferenceKey {
    /// How the records that a field refers to are looked up.
    fn of(field: &Field) -> Self {
        let mut kinds = named::Kind::ALL.into_iter();
        let kind = kinds.find(|kind| Some(kind.path()) == field.target.map(|target| target.path));
        kind.map_or(Self::Title, Self::Name)
    }
}

/// A column of a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Column {
    pub(super) name: &'static str,
    /// What a spreadsheet may call it. Case, accents and underscores do not matter.
    label: Both,
    pub(super) content: Content,
    pub(super) is_required: bool,
}

/// A column by which an import looks a reference up.
const fn by(name: &'static str, label: Both, content: Content) -> Column {
    Column {
        name,
        label,
        content,
        is_required: false,
    }
}

/// Columns that an import takes in the place of those of references.
const BY_NAME: [Column; 5] = [
    by(
        "category_name",
        ("Nome da categoria", "Category name"),
        Content::Name("category", ReferenceKey::Name(named::Kind::Category)),
    ),
    by(
        "brand_name",
        ("Nome da marca", "Brand name"),
        Content::Name("brand", ReferenceKey::Name(named::Kind::Brand)),
    ),
    by(
        "supplier_name",
        ("Nome do fornecedor", "Supplier name"),
        Content::Name("supplier", ReferenceKey::Name(named::Kind::Supplier)),
    ),
    by(
        "product_title",
        ("Título do produto", "Product title"),
        Content::Name("product", ReferenceKey::Title),
    ),
    by(
        "product_serie_number",
        ("Número de série do produto", "Product serie number"),
        Content::Name("product", ReferenceKey::SerieNumber),
    ),
];

impl Column {
    /// The column of a field.
    fn of(field: &'static Field) -> Self {
        Self {
            name: field.name,
            label: field.label,
            content: match field.kind {
                Kind::Text { .. }
                | Kind::LongText { .. }
                | Kind::Token
                | Kind::Truth
                | Kind::Choice(_)
                | Kind::Several => Content::Text,
                Kind::Id | Kind::Integer { .. } => Content::Number,
                Kind::Time => Content::Time,
                Kind::Price | Kind::Decimal => Content::Price,
                Kind::Reference => Content::Reference(ReferenceKey::of(field)),
            },
            is_required: field.is_required(),
        }
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

/// What stands over the column of a field in a file for a reader, which an import understands: a reference has its name below it.
pub(crate) fn heading(field: &Field, locale: Locale) -> &'static str {
    let name = field
        .target
        .map(|target| format!("{}_{}", field.name, target.name));
    let by_name = BY_NAME.iter().find(|by| name.as_deref() == Some(by.name));
    let (portuguese, english) = by_name.map_or(field.label, |by| by.label);
    locale.text(portuguese, english)
}

/// What a reader calls a column that an import complains about.
pub(super) fn label(name: &'static str, locale: Locale) -> &'static str {
    let by_name = BY_NAME.iter().find(|by| by.name == name);
    by_name.map_or_else(
        || names::field(locale, name),
        |by| locale.text(by.label.0, by.label.1),
    )
}

/// What stands over the columns of an empty file to be filled in: what a new record is made of.
pub(super) fn template(resource: Resource, locale: Locale) -> Vec<&'static str> {
    let fields = fields(resource).iter();
    let written = fields.filter(|field| !field.is_read_only && !field.is_hidden);
    written.map(|field| heading(field, locale)).collect()
}

/// The fields of a resource.
pub(super) fn fields(resource: Resource) -> &'static [&'static Field] {
    match resource {
        Resource::Named(_) => NamedRecord::FIELDS,
        Resource::Products => ProductRecord::FIELDS,
        Resource::Movements(movement) => movement.fields(),
    }
}

/// The columns of an export, in their order.
pub(super) fn exported(resource: Resource) -> impl Iterator<Item = Column> {
    let fields = fields(resource).iter().copied();
    fields.filter(|field| !field.is_hidden).map(Column::of)
}

/// Columns that an import takes in the place of one of the others.
fn by_name(resource: Resource) -> impl Iterator<Item = Column> {
    let fields = fields(resource);
    let columns = BY_NAME.into_iter();
    columns.filter(|column| find(fields, fills(column)).is_some())
}

/// The columns of a first row, or everything that is wrong with it.
pub(super) fn of_header(resource: Resource, names: &[String]) -> Result<Vec<Column>, Message> {
    let known = || exported(resource).chain(by_name(resource));
    let mut columns: Vec<Column> = Vec::new();
    let mut wrong = Vec::new();
    for name in names {
        match known().find(|column| column.is_called(name)) {
            None => {
                let name: String = name.chars().take(100).collect();
                wrong.push((
                    format!("coluna desconhecida “{name}”"),
                    format!("unknown column “{name}”"),
                ));
            }
            Some(column) if columns.iter().any(|other| fills(other) == fills(&column)) => {
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
        if columns.iter().all(|column| fills(column) != needed.name) {
            wrong.push((
                format!("falta a coluna {}", needed.label.0),
                format!("column {} is missing", needed.name),
            ));
        }
    }
    if wrong.is_empty() {
        return Ok(columns);
    }
    let in_portuguese: Vec<&str> = known().map(|column| column.label.0).collect();
    let in_portuguese = in_portuguese.join(", ");
    let allowed: Vec<&str> = known().map(|column| column.name).collect();
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

/// The field that a column fills.
pub(super) const fn fills(column: &Column) -> &'static str {
    match column.content {
        Content::Name(field, _) => field,
        _ => column.name,
    }
}
