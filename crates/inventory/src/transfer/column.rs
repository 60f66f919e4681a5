//! The columns of each resource's files.

use super::Resource;
use crate::{catalogue::named::Kind, rest::Message, stock::movements::Movement};

/// What the cells of a column hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    /// A text, escaped against formulas.
    Text,
    /// A number or a time.
    Plain,
    /// A price.
    Price,
    /// What a referred record is called; the reference's own column, and how it is looked up.
    Name(&'static str, By),
}

/// By what a reference is looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    Name(Kind),
    Title,
    SerieNumber,
}

/// A column of a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) content: Content,
    pub(super) is_required: bool,
}

const fn required(name: &'static str, content: Content) -> Column {
    Column {
        name,
        content,
        is_required: true,
    }
}

const fn optional(name: &'static str, content: Content) -> Column {
    Column {
        name,
        content,
        is_required: false,
    }
}

const ID: Column = optional("id", Content::Plain);
const DESCRIPTION: Column = optional("description", Content::Text);
const CREATED_AT: Column = optional("created_at", Content::Plain);
const UPDATED_AT: Column = optional("updated_at", Content::Plain);
const QUANTITY: Column = required("quantity", Content::Plain);
const PRODUCT: Column = required("product", Content::Plain);
const PRODUCT_TITLE: Column = optional("product_title", Content::Name("product", By::Title));
const PRODUCT_SERIE_NUMBER: Column = optional(
    "product_serie_number",
    Content::Name("product", By::SerieNumber),
);

const NAMED: &[Column] = &[
    ID,
    required("name", Content::Text),
    DESCRIPTION,
    CREATED_AT,
    UPDATED_AT,
];
const PRODUCTS: &[Column] = &[
    ID,
    required("title", Content::Text),
    required("category", Content::Plain),
    required("brand", Content::Plain),
    DESCRIPTION,
    optional("serie_number", Content::Text),
    required("cost_price", Content::Price),
    required("selling_price", Content::Price),
    QUANTITY,
    CREATED_AT,
    UPDATED_AT,
];
const INFLOWS: &[Column] = &[
    ID,
    required("supplier", Content::Plain),
    PRODUCT,
    QUANTITY,
    DESCRIPTION,
    CREATED_AT,
];
const OUTFLOWS: &[Column] = &[ID, PRODUCT, QUANTITY, DESCRIPTION, CREATED_AT];

const PRODUCTS_BY_NAME: &[Column] = &[
    optional(
        "category_name",
        Content::Name("category", By::Name(Kind::Category)),
    ),
    optional("brand_name", Content::Name("brand", By::Name(Kind::Brand))),
];
const INFLOWS_BY_NAME: &[Column] = &[
    optional(
        "supplier_name",
        Content::Name("supplier", By::Name(Kind::Supplier)),
    ),
    PRODUCT_TITLE,
    PRODUCT_SERIE_NUMBER,
];
const OUTFLOWS_BY_NAME: &[Column] = &[PRODUCT_TITLE, PRODUCT_SERIE_NUMBER];

/// The columns of an export, in their order.
pub(super) const fn exported(resource: Resource) -> &'static [Column] {
    match resource {
        Resource::Named(_) => NAMED,
        Resource::Products => PRODUCTS,
        Resource::Movements(Movement::Inflow) => INFLOWS,
        Resource::Movements(Movement::Outflow) => OUTFLOWS,
    }
}

/// Columns that an import takes in the place of one of the others.
const fn by_name(resource: Resource) -> &'static [Column] {
    match resource {
        Resource::Named(_) => &[],
        Resource::Products => PRODUCTS_BY_NAME,
        Resource::Movements(Movement::Inflow) => INFLOWS_BY_NAME,
        Resource::Movements(Movement::Outflow) => OUTFLOWS_BY_NAME,
    }
}

/// The columns of a first row, or everything that is wrong with it.
pub(super) fn of_header(resource: Resource, names: &[String]) -> Result<Vec<Column>, Message> {
    let known = || exported(resource).iter().chain(by_name(resource));
    let mut columns: Vec<Column> = Vec::new();
    let mut wrong = Vec::new();
    for name in names {
        match known().find(|column| column.name == name) {
            None => {
                let name: String = name.chars().take(100).collect();
                wrong.push((
                    format!("coluna desconhecida “{name}”"),
                    format!("unknown column \"{name}\""),
                ));
            }
            Some(column) if columns.iter().any(|other| fills(other) == fills(column)) => {
                wrong.push((
                    format!("a coluna {name} aparece duas vezes"),
                    format!("column {name} is there twice, or beside another that says the same"),
                ));
            }
            Some(column) => columns.push(*column),
        }
    }
    for needed in exported(resource)
        .iter()
        .filter(|column| column.is_required)
    {
        if columns.iter().all(|column| fills(column) != needed.name) {
            wrong.push((
                format!("falta a coluna {}", needed.name),
                format!("column {} is missing", needed.name),
            ));
        }
    }
    if wrong.is_empty() {
        return Ok(columns);
    }
    let allowed: Vec<&str> = known().map(|column| column.name).collect();
    let allowed = allowed.join(", ");
    let (portuguese, english): (Vec<_>, Vec<_>) = wrong.into_iter().unzip();
    Err(Message::new(
        format!("{}. Colunas permitidas: {allowed}.", portuguese.join("; ")),
        format!("{}; allowed: {allowed}", english.join("; ")),
    ))
}

/// The column for names beside one that takes the id of another record; none of a column that takes something else.
pub(super) fn for_names(column: &Column) -> Option<&'static str> {
    let is_it = |other: &&Column| fills(other) == column.name;
    let mut all = PRODUCTS_BY_NAME.iter().chain(INFLOWS_BY_NAME);
    all.find(is_it).map(|other| other.name)
}

/// The field that a column fills.
pub(super) const fn fills(column: &Column) -> &'static str {
    match column.content {
        Content::Name(field, _) => field,
        _ => column.name,
    }
}
