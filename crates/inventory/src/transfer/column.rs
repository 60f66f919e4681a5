//! The columns of each resource's files.

use super::Resource;
use crate::{catalogue::named::Kind, rest::Message, stock::movements::Movement};

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
    Reference(By),
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
    /// What a spreadsheet in Portuguese may call it. Case, accents and underscores do not matter.
    portuguese: &'static str,
    pub(super) content: Content,
    pub(super) is_required: bool,
}

const fn required(name: &'static str, portuguese: &'static str, content: Content) -> Column {
    Column {
        name,
        portuguese,
        content,
        is_required: true,
    }
}

const fn optional(name: &'static str, portuguese: &'static str, content: Content) -> Column {
    Column {
        name,
        portuguese,
        content,
        is_required: false,
    }
}

const ID: Column = optional("id", "id", Content::Number);
const DESCRIPTION: Column = optional("description", "descrição", Content::Text);
const CREATED_AT: Column = optional("created_at", "criado em", Content::Time);
const UPDATED_AT: Column = optional("updated_at", "atualizado em", Content::Time);
const QUANTITY: Column = required("quantity", "quantidade", Content::Number);
const PRODUCT: Column = required("product", "produto", Content::Reference(By::Title));
const PRODUCT_TITLE: Column = optional(
    "product_title",
    "título do produto",
    Content::Name("product", By::Title),
);
const PRODUCT_SERIE_NUMBER: Column = optional(
    "product_serie_number",
    "número de série do produto",
    Content::Name("product", By::SerieNumber),
);

const NAMED: &[Column] = &[
    ID,
    required("name", "nome", Content::Text),
    DESCRIPTION,
    CREATED_AT,
    UPDATED_AT,
];
const PRODUCTS: &[Column] = &[
    ID,
    required("title", "título", Content::Text),
    required(
        "category",
        "categoria",
        Content::Reference(By::Name(Kind::Category)),
    ),
    required("brand", "marca", Content::Reference(By::Name(Kind::Brand))),
    DESCRIPTION,
    optional("serie_number", "número de série", Content::Text),
    required("cost_price", "preço de custo", Content::Price),
    required("selling_price", "preço de venda", Content::Price),
    QUANTITY,
    CREATED_AT,
    UPDATED_AT,
];
const INFLOWS: &[Column] = &[
    ID,
    required(
        "supplier",
        "fornecedor",
        Content::Reference(By::Name(Kind::Supplier)),
    ),
    PRODUCT,
    QUANTITY,
    DESCRIPTION,
    CREATED_AT,
];
const OUTFLOWS: &[Column] = &[ID, PRODUCT, QUANTITY, DESCRIPTION, CREATED_AT];

const PRODUCTS_BY_NAME: &[Column] = &[
    optional(
        "category_name",
        "nome da categoria",
        Content::Name("category", By::Name(Kind::Category)),
    ),
    optional(
        "brand_name",
        "nome da marca",
        Content::Name("brand", By::Name(Kind::Brand)),
    ),
];
const INFLOWS_BY_NAME: &[Column] = &[
    optional(
        "supplier_name",
        "nome do fornecedor",
        Content::Name("supplier", By::Name(Kind::Supplier)),
    ),
    PRODUCT_TITLE,
    PRODUCT_SERIE_NUMBER,
];
const OUTFLOWS_BY_NAME: &[Column] = &[PRODUCT_TITLE, PRODUCT_SERIE_NUMBER];

impl Column {
    fn is_called(&self, name: &str) -> bool {
        let plain = |name: &str| -> String {
            let name = db::fold(name).replace('_', " ");
            name.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        let name = plain(name);
        [self.name, self.portuguese]
            .into_iter()
            .any(|own| plain(own) == name)
    }
}

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
        match known().find(|column| column.is_called(name)) {
            None => {
                let name: String = name.chars().take(100).collect();
                wrong.push((
                    format!("coluna desconhecida “{name}”"),
                    format!("unknown column \"{name}\""),
                ));
            }
            Some(column) if columns.iter().any(|other| fills(other) == fills(column)) => {
                let name = column.name;
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

/// The field that a column fills.
pub(super) const fn fills(column: &Column) -> &'static str {
    match column.content {
        Content::Name(field, _) => field,
        _ => column.name,
    }
}
