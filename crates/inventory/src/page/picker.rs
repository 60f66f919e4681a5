//! Chooses one record among up to millions. A picker is a text field. A script adds a list of the
//! ten best matches; without the script the server looks the text up. It searches by name; a
//! product's serie number finds the product at once. The search on every page uses the same offers.
//!
//! A picker called `product` sends three fields: `product` (the id), `product_text` (the text) and
//! `product_was` (the text when the id was chosen). A text that differs from `product_was` is
//! looked up, whatever the id says. `product_choice` chooses among several matches.

use axum::{extract::Path, response::Response};
use http::StatusCode;
use resource::{Field, Value};
use serde::Serialize;
use web::locale::Locale;

use super::{
    Form, Frame,
    routes::{PageRouter, get},
};
use crate::{
    State,
    access::{Model, Verb},
    api::answer::json,
    catalogue::{
        named::{self, Kind},
        products::{self, ProductRecord},
    },
    rest::{
        Refusal,
        list::search_words,
        query::{Parameters, encode},
    },
};

/// The most records that are offered.
const OFFERED: i64 = 10;
/// The most characters of a text that are looked up.
const MAX_TEXT: usize = 500;

/// The kind of records to choose from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PickerSource {
    Products,
    /// Brands, categories or suppliers.
    Named(Kind),
}

/// A record that is offered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct PickerOption {
    pub(crate) id: i64,
    pub(crate) text: String,
    /// A text that tells records with the same name apart.
    pub(crate) hint: String,
}

/// A picker as a form shows it.
#[derive(Debug, Clone)]
pub(crate) struct Picker {
    pub(crate) name: &'static str,
    pub(crate) label: &'static str,
    pub(crate) source: PickerSource,
    /// The id of the chosen record; empty if there is none.
    pub(crate) id: String,
    /// The text in the field.
    pub(crate) text: String,
    /// The matches to choose from, if the text matches several records.
    pub(crate) choices: Vec<PickerOption>,
}

impl PickerSource {
    /// The segment in paths.
    pub(crate) const fn path(self) -> &'static str {
        match self {
            Self::Products => "products",
            Self::Named(kind) => kind.path(),
        }
    }

    /// The records whose permissions are required.
    pub(crate) const fn model(self) -> Model {
        match self {
            Self::Products => Model::Product,
            Self::Named(kind) => kind.model(),
        }
    }

    /// The source with this segment in paths.
    pub(crate) fn of(path: &str) -> Option<Self> {
        let named = Kind::ALL.into_iter().map(Self::Named);
        std::iter::once(Self::Products)
            .chain(named)
            .find(|source| source.path() == path)
    }

    async fn find(
        self,
        state: &State,
        text: &str,
        locale: Locale,
    ) -> Result<Vec<PickerOption>, Refusal> {
        let text: String = text.chars().take(MAX_TEXT).collect();
        Ok(match self {
            Self::Products => products::best(state, &text, OFFERED)
                .await?
                .into_iter()
                .map(|product| product_option(product, locale))
                .collect(),
            Self::Named(kind) => named::best(state, kind, &text, OFFERED)
                .await?
                .into_iter()
                .map(|record| PickerOption {
                    id: record.id,
                    text: record.name,
                    hint: String::new(),
                })
                .collect(),
        })
    }

    /// The name of the record with an id.
    pub(crate) async fn name_of(self, state: &State, id: i64) -> Result<Option<String>, Refusal> {
        Ok(match self {
            Self::Products => products::read(state, id)
                .await?
                .map(|product| product.title),
            Self::Named(kind) => named::read(state, kind, id)
                .await?
                .map(|record| record.name),
        })
    }
}

impl PickerOption {
    /// Whether the record contains all words of the text.
    fn has_words_of(&self, text: &str) -> bool {
        let record = db::fold(&format!("{} {}", self.text, self.hint));
        let words = search_words(&Parameters::of("search", text));
        words.iter().all(|word| record.contains(word.as_str()))
    }
}

fn product_option(product: ProductRecord, locale: Locale) -> PickerOption {
    let quantity = locale.number(product.quantity);
    let price = ProductRecord::selling_price.shown(Value::Money(product.selling_price), locale);
    let stock = format!(
        "{quantity} {} · {price}",
        locale.text("em estoque", "in stock")
    );
    let hint = match product.serie_number {
        Some(number) => format!("{stock} · {number}"),
        None => stock,
    };
    PickerOption {
        id: product.id,
        text: product.title,
        hint,
    }
}

impl Picker {
    /// The ends of the names that a picker submits: the id, the typed text, the text that belongs to
    /// the id, and the choice among several matches.
    pub(crate) const SUFFIXES: [&str; 4] = ["", "_text", "_was", "_choice"];

    /// The picker of a described reference. `None` for other fields.
    pub(crate) fn of(locale: Locale, field: &'static Field) -> Option<Self> {
        let source = PickerSource::of(field.target?.path)?;
        Some(Self::empty(field.name, locale.say(field.label), source))
    }

    /// The picker of a product, without a choice.
    pub(crate) fn product(frame: &Frame) -> Self {
        let label = frame.text("Produto", "Product");
        Self::empty("product", label, PickerSource::Products)
    }

    /// The picker of a supplier, without a choice.
    pub(crate) fn supplier(frame: &Frame) -> Self {
        let label = frame.text("Fornecedor", "Supplier");
        Self::empty("supplier", label, PickerSource::Named(Kind::Supplier))
    }

    fn empty(name: &'static str, label: &'static str, source: PickerSource) -> Self {
        Self {
            name,
            label,
            source,
            id: String::new(),
            text: String::new(),
            choices: Vec::new(),
        }
    }

    /// The text of the link that adds a record: `Nova categoria`.
    pub(crate) fn add_text(&self, frame: &Frame) -> String {
        self.source.model().words().new_one(frame.locale)
    }

    /// The address where a record is added, which then leads back to this page. Empty for users
    /// without the permission, and for products, whose form is too long for a detour.
    pub(crate) fn add_address(&self, frame: &Frame) -> String {
        if self.source == PickerSource::Products || !frame.may(Verb::Add, self.source.model()) {
            return String::new();
        }
        let mut address = format!("/{}/new/?next=", self.source.path());
        encode(&frame.path, &mut address);
        address
    }

    /// Chooses the record with an id. An unknown id is kept, for the error message.
    pub(crate) async fn choose(mut self, state: &State, id: &str) -> Result<Self, Refusal> {
        let name = match id.trim().parse() {
            Ok(number) => self.source.name_of(state, number).await?,
            Err(_) => None,
        };
        id.trim().clone_into(&mut self.id);
        self.text = name.unwrap_or_else(|| self.id.clone());
        Ok(self)
    }

    /// Chooses the record with an id from a query string, if it exists.
    pub(crate) async fn choose_known(
        self,
        state: &State,
        id: Option<&str>,
    ) -> Result<Self, Refusal> {
        let Some(id) = id.and_then(|id| id.trim().parse::<i64>().ok()) else {
            return Ok(self);
        };
        Ok(match self.source.name_of(state, id).await? {
            Some(text) => Self {
                id: id.to_string(),
                text,
                ..self
            },
            None => self,
        })
    }

    /// Evaluates the submitted fields and looks a typed text up. Errors go into the form, several
    /// matches into the picker's choices.
    pub(crate) async fn resolve(
        self,
        frame: &Frame,
        sent: &Form,
        form: &mut Form,
    ) -> Result<Self, Refusal> {
        let name = self.name;
        let field = |suffix: &str| findable(sent.value(&format!("{name}{suffix}")));
        let (id, text, choice) = (field(""), field("_text"), field("_choice"));
        if !choice.trim().is_empty() {
            return self.choose(&frame.state, &choice).await;
        }
        let (typed, was) = (text.trim(), field("_was"));
        if !id.trim().is_empty() && (typed.is_empty() && was.is_empty() || typed == was.trim()) {
            return self.choose(&frame.state, &id).await;
        }
        if typed.is_empty() {
            return Ok(self);
        }
        self.look_up(frame, typed, form).await
    }

    async fn look_up(
        mut self,
        frame: &Frame,
        typed: &str,
        form: &mut Form,
    ) -> Result<Self, Refusal> {
        let locale = frame.locale;
        let found = self.source.find(&frame.state, typed, locale).await?;
        let folded = db::fold(typed);
        let mut same = found
            .iter()
            .filter(|choice| db::fold(&choice.text) == folded);
        let chosen = match (same.next(), same.next(), found.as_slice()) {
            (Some(only), None, _) => Some(only),
            // A single match is chosen if it contains all words. A merely similar one is offered
            // instead.
            (_, _, [only]) if only.has_words_of(typed) => Some(only),
            _ => None,
        };
        if let Some(choice) = chosen {
            self.id = choice.id.to_string();
            self.text = choice.text.clone();
            return Ok(self);
        }
        let message = if found.is_empty() {
            locale.text("Nada foi encontrado com", "Nothing was found for")
        } else {
            locale.text(
                "Escolha abaixo um resultado para",
                "Choose a result below for",
            )
        };
        form.complain(self.name, format!("{message} “{typed}”."));
        typed.clone_into(&mut self.text);
        self.choices = found;
        Ok(self)
    }
}

/// A text to search by. NUL, which PostgreSQL cannot store, is replaced by a character that no name
/// contains.
fn findable(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

/// The prefix of the paths from which scripts load offers.
pub(crate) const OFFERS: &str = "/pick/";

/// `/pick/…/`: the ten best matches as JSON.
pub(crate) fn routes() -> PageRouter {
    PageRouter::new().route("/pick/{source}/", get(offer))
}

async fn offer(
    frame: Frame,
    Path(path): Path<String>,
    parameters: Parameters,
) -> Result<Response, web::Error> {
    let source = PickerSource::of(&path).ok_or(Refusal::NotFound)?;
    frame.require(Verb::View, source.model())?;
    let text = findable(parameters.get("q").unwrap_or_default());
    let choices = source.find(&frame.state, &text, frame.locale).await?;
    Ok(json(StatusCode::OK, &choices))
}
