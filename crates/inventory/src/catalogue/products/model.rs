//! A product, and what a client may set of it.

use db::{Money, Timestamp};
use resource::{Field, Words, id, integer, names, price, reference, text, time};
use serde::Serialize;

use crate::{
    audit,
    catalogue::{MAX_DESCRIPTION, MAX_NAME},
    rest::{
        Message,
        fields::{FieldErrors, Members, Mode, Reader, Reference, Setting},
        json::{self, Named},
    },
    tallies::Standing,
};

/// Longest serie number, in characters.
pub const MAX_SERIE_NUMBER: usize = 200;

/// What products are called.
pub(crate) const WORDS: Words = Words::masculine(("produto", "product"), ("produtos", "products"));

/// The fields, in the order of answers and errors.
pub(crate) const DESCRIBED: [&Field; 11] = [
    &id().named("id"),
    &text::<String>("Título", "Title", MAX_NAME)
        .name()
        .named("title"),
    &reference("Categoria", "Category").named("category"),
    &reference("Marca", "Brand").named("brand"),
    &text::<Option<String>>("Descrição", "Description", MAX_DESCRIPTION)
        .long()
        .named("description"),
    &text::<Option<String>>("Número de série", "Serie number", MAX_SERIE_NUMBER)
        .named("serie_number"),
    &price::<Money>("Preço de custo", "Cost price").named("cost_price"),
    &price::<Money>("Preço de venda", "Selling price").named("selling_price"),
    &integer::<i64>("Quantidade", "Quantity", 0, i64::MAX).named("quantity"),
    &time::<Timestamp>("Criado em", "Created at").named("created_at"),
    &time::<Timestamp>("Alterado em", "Updated at").named("updated_at"),
];
/// Their names; each of them orders a list.
pub(super) const FIELDS: [&str; 11] = names(&DESCRIBED);

/// The message about a serie number that another product has.
pub(super) fn serie_number_taken() -> Message {
    Message::fixed(
        "Já existe um produto com este número de série.",
        "Product with this Serie number already exists.",
    )
    .in_api("product with this serie number already exists.")
}

/// A product as the API shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProductRecord {
    /// Its id.
    pub id: i64,
    /// 1 to 500 characters.
    pub title: String,
    /// What sort it is.
    pub category: Named,
    /// Who makes it.
    pub brand: Named,
    /// Up to 65,536 characters.
    pub description: Option<String>,
    /// Unique when there is one.
    pub serie_number: Option<String>,
    /// What one unit costs the shop, in BRL.
    #[serde(serialize_with = "json::price")]
    pub cost_price: Money,
    /// What one unit costs the buyer, in BRL.
    #[serde(serialize_with = "json::price")]
    pub selling_price: Money,
    /// Units in stock.
    pub quantity: i64,
    /// When it was created.
    #[serde(serialize_with = "json::time")]
    pub created_at: Timestamp,
    /// When it, or its stock, was last changed.
    #[serde(serialize_with = "json::time")]
    pub updated_at: Timestamp,
}

impl ProductRecord {
    /// The names of the fields that differ from another state of the same product, times left out.
    pub(super) fn changed_fields(&self, after: &Self) -> Vec<&'static str> {
        audit::changed([
            ("title", self.title != after.title),
            ("category", self.category.id != after.category.id),
            ("brand", self.brand.id != after.brand.id),
            ("description", self.description != after.description),
            ("serie_number", self.serie_number != after.serie_number),
            ("cost_price", self.cost_price != after.cost_price),
            ("selling_price", self.selling_price != after.selling_price),
            ("quantity", self.quantity != after.quantity),
        ])
    }
}

/// What a client sets. Absent members of an update stay as they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Input {
    pub(super) title: Option<String>,
    pub(super) category: Option<Reference>,
    pub(super) brand: Option<Reference>,
    pub(super) description: Setting<Option<String>>,
    pub(super) serie_number: Setting<Option<String>>,
    pub(super) cost_price: Option<Money>,
    pub(super) selling_price: Option<Money>,
    pub(super) quantity: Option<i64>,
}

impl Input {
    /// Whether it writes anything that the tallies count the product by.
    pub(super) fn changes(&self, before: &Standing) -> bool {
        before.is_changed_by(
            self.category.as_ref().map(|category| category.id),
            self.brand.as_ref().map(|brand| brand.id),
            self.cost_price,
            self.selling_price,
        )
    }

    /// The fields of a body, and what is wrong with them. What only the store knows is checked later, so that
    /// all errors of all fields come in one answer.
    pub(super) fn read(members: &Members, mode: Mode) -> (Self, FieldErrors) {
        let mut reader = Reader::new(members, mode);
        let input = Self {
            title: reader.name("title", MAX_NAME),
            category: reader.reference("category"),
            brand: reader.reference("brand"),
            description: reader.optional_text("description", MAX_DESCRIPTION),
            serie_number: absent_when_blank(reader.optional_text("serie_number", MAX_SERIE_NUMBER)),
            cost_price: reader.price("cost_price"),
            selling_price: reader.price("selling_price"),
            quantity: reader.integer("quantity", 0, i64::MAX),
        };
        (input, reader.finish())
    }
}

/// A blank serie number is none: two products without one do not share it.
fn absent_when_blank(serie_number: Setting<Option<String>>) -> Setting<Option<String>> {
    match serie_number {
        Setting::Kept => Setting::Kept,
        Setting::Set(text) => Setting::Set(text.filter(|text| !text.is_empty())),
    }
}
