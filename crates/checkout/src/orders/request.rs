//! Validates the body of `POST /orders/`. Every member is checked, nested members under their own
//! paths. Unknown members are refused. Pure.

use std::time::Duration;

use brazil::{FederalUnit, PostalCode, TaxId, holds_card_number};
use db::{Money, Timestamp};
use http::Uri;
use http::uri::Scheme;
use serde_json::value::RawValue;

use super::model::{Customer, Item, METADATA_MAX, METADATA_TEXT_MAX};
use crate::json::{Object, Value, unescape};
use crate::request::amount::{self, MAX_AMOUNT};
use crate::request::text::{is_email, limit};
use crate::request::{
    HOLDS_CARD_NUMBER, MaxAmounts, Members, MethodKind, Refusal, check_content_type, not_unicode,
};

/// The longest reference, in characters.
pub(super) const REFERENCE_MAX: usize = 64;
/// The longest title of an item, in characters.
pub(super) const TITLE_MAX: usize = 256;
/// The longest SKU, in characters. Inventory has the same limit.
pub(super) const SKU_MAX: usize = 200;
/// The most items.
pub(super) const ITEMS_MAX: usize = 100;
/// The longest customer name, in characters: the first and last name of a boleto together.
pub(super) const NAME_MAX: usize = 256;
/// The longest return address, in characters.
pub(super) const URL_MAX: usize = 2048;
/// The most characters of a metadata entry's name.
const METADATA_NAME_MAX: usize = 64;
/// The most installments that any card network allows.
pub(super) const INSTALLMENTS_MAX: u8 = 12;
/// The lifetime of an order: by default, at least, and at most.
const LIFETIME: Duration = Duration::from_secs(24 * 60 * 60);
const LIFETIME_MIN: Duration = Duration::from_secs(10 * 60);
const LIFETIME_MAX: Duration = Duration::from_secs(30 * 24 * 60 * 60);

const END_OUT_OF_RANGE: &str = "must be between 10 minutes and 30 days from now";

const MEMBERS: &[&str] = &[
    "reference",
    "amount",
    "description",
    "items",
    "payment_methods",
    "max_installments",
    "customer",
    "success_url",
    "cancel_url",
    "metadata",
    "expires_at",
];
const ITEM_MEMBERS: &[&str] = &["title", "quantity", "unit_price", "sku"];
pub(super) const CUSTOMER_MEMBERS: &[&str] = &[
    "name",
    "email",
    "identification_number",
    "zip_code",
    "street_name",
    "street_number",
    "neighborhood",
    "city",
    "federal_unit",
];

/// A validated new order.
#[derive(Debug, Clone)]
pub(crate) struct NewOrder {
    pub(super) reference: Option<String>,
    pub(super) amount: Money,
    pub(super) description: String,
    pub(super) items: Vec<Item>,
    pub(super) payment_methods: Vec<MethodKind>,
    pub(super) max_installments: Option<u8>,
    pub(super) customer: Option<Customer>,
    pub(super) success_url: Option<String>,
    pub(super) cancel_url: Option<String>,
    pub(super) metadata: Box<RawValue>,
    /// The requested expiry; see [`NewOrder::end`].
    pub(super) expires_at: Option<Timestamp>,
}

impl NewOrder {
    /// The expiry of an order that is created now.
    pub(super) fn end(&self, now: Timestamp) -> Timestamp {
        self.expires_at.unwrap_or(now + LIFETIME)
    }

    /// Refuses an amount that none of the order's methods can take.
    pub(crate) fn check_amount(&self, max_amounts: &MaxAmounts) -> Result<(), Refusal> {
        match max_amounts.largest(&self.payment_methods) {
            Some(most) if self.amount > most => {
                let reason = format!("must be at most {most}");
                Err(Refusal::invalid("amount", &reason))
            }
            _ => Ok(()),
        }
    }

    /// The names of the allowed methods, separated by commas.
    pub(super) fn method_names(&self) -> String {
        let methods = self.payment_methods.iter();
        let names: Vec<_> = methods.map(|method| method.name()).collect();
        names.join(",")
    }
}

/// Validates the body of a new order, except for the limits of [`NewOrder::check_amount`]. Returns
/// the first problem.
pub(crate) fn check(
    content_type: Option<&str>,
    body: &[u8],
    now: Timestamp,
) -> Result<NewOrder, Refusal> {
    check_content_type(content_type)?;
    let members = Members::of_body(body)?;
    members.refuse_unknown(MEMBERS)?;
    let description = members.required_text("description", limit("description"))?;
    let items = items(&members)?;
    let amount = sum(&members, &items)?;
    let payment_methods = payment_methods(&members)?;
    Ok(NewOrder {
        reference: members.text("reference", REFERENCE_MAX)?,
        amount,
        description,
        items,
        payment_methods,
        max_installments: max_installments(&members)?,
        customer: customer(&members)?,
        success_url: web_address(&members, "success_url")?,
        cancel_url: web_address(&members, "cancel_url")?,
        metadata: metadata(&members)?,
        expires_at: expires_at(&members, now)?,
    })
}

/// An address that the page may link to.
fn web_address(members: &Members<'_>, name: &'static str) -> Result<Option<String>, Refusal> {
    let address = members.text(name, URL_MAX)?;
    match address {
        Some(address) if !is_web_address(&address) => {
            Err(members.refused(name, "must be an https:// address"))
        }
        address => Ok(address),
    }
}

fn items(members: &Members<'_>) -> Result<Vec<Item>, Refusal> {
    let list = members.list("items")?.unwrap_or_default();
    if list.len() > ITEMS_MAX {
        let reason = format!("must have at most {ITEMS_MAX} elements");
        return Err(members.refused("items", &reason));
    }
    let numbered = list.into_iter().enumerate();
    numbered
        .map(|(index, value)| item(format!("items[{index}]"), value))
        .collect()
}

fn item(path: String, value: Value<'_>) -> Result<Item, Refusal> {
    let item = Members::of_value(path, value, ITEM_MEMBERS)?;
    let missing = |name| Refusal::missing(item.name(name));
    let title = item.required_text("title", TITLE_MAX)?;
    let quantity = item.count("quantity", i64::MAX)?;
    let unit_price = match item.value("unit_price") {
        Value::Null => return Err(missing("unit_price")),
        value => amount::price(value, item.name("unit_price"))?,
    };
    Ok(Item {
        title,
        quantity: quantity.ok_or_else(|| missing("quantity"))?,
        unit_price,
        sku: item.text("sku", SKU_MAX)?,
    })
}

/// The sum of the items, or the amount that is given instead of items.
fn sum(members: &Members<'_>, items: &[Item]) -> Result<Money, Refusal> {
    let stated = match members.value("amount") {
        Value::Null => None,
        value => Some(amount::positive(value, "amount")?),
    };
    if items.is_empty() {
        return stated.ok_or_else(|| Refusal::missing("amount"));
    }
    let mut sums = items.iter().map(Item::sum);
    let sum = sums.try_fold(Money::ZERO, |sum, item| sum.checked_add(item?));
    let sum = sum.filter(|sum| *sum <= MAX_AMOUNT);
    let sum = sum.ok_or_else(|| Refusal::invalid_amount("amount"))?;
    if sum == Money::ZERO {
        return Err(Refusal::amount_not_positive("amount"));
    }
    match stated {
        Some(stated) if stated != sum => Err(members.refused("amount", "must be the items' sum")),
        _ => Ok(sum),
    }
}

/// The payment methods in the order of the specification, without duplicates.
fn payment_methods(members: &Members<'_>) -> Result<Vec<MethodKind>, Refusal> {
    let Some(list) = members.list("payment_methods")? else {
        return Ok(MethodKind::ALL.to_vec());
    };
    let method = |value: &Value<'_>| match value {
        Value::Text(source) => unescape(source).and_then(|text| MethodKind::of(&text)),
        _ => None,
    };
    let named: Option<Vec<MethodKind>> = list.iter().map(method).collect();
    let refused = || members.refused("payment_methods", "must be some of card, pix and boleto");
    let named = named
        .filter(|named| !named.is_empty())
        .ok_or_else(refused)?;
    let methods = MethodKind::ALL.into_iter();
    Ok(methods.filter(|method| named.contains(method)).collect())
}

fn max_installments(members: &Members<'_>) -> Result<Option<u8>, Refusal> {
    let most = members.count("max_installments", i64::from(INSTALLMENTS_MAX))?;
    Ok(most.and_then(|most| u8::try_from(most).ok()))
}

fn customer(members: &Members<'_>) -> Result<Option<Customer>, Refusal> {
    let Some(customer) = members.object("customer", CUSTOMER_MEMBERS)? else {
        return Ok(None);
    };
    let text = |name| customer.text(name, limit(name));
    let parsed = |name: &'static str, parse: fn(&str) -> Option<String>, reason: &str| {
        let text = customer.string(name)?;
        let parsed = text.map(|text| parse(text.trim()));
        match parsed {
            Some(None) => Err(customer.refused(name, reason)),
            parsed => Ok(parsed.flatten()),
        }
    };
    let email = text("email")?;
    if email.as_deref().is_some_and(|email| !is_email(email)) {
        return Err(customer.refused("email", "must be a valid e-mail address"));
    }
    let tax_id = |text: &str| TaxId::parse(text).ok().map(|id| id.as_str().to_owned());
    let code = |text: &str| {
        PostalCode::parse(text)
            .ok()
            .map(|code| code.as_str().to_owned())
    };
    let unit = |text: &str| {
        FederalUnit::parse(text)
            .ok()
            .map(|unit| unit.as_str().to_owned())
    };
    Ok(Some(Customer {
        name: customer.text("name", NAME_MAX)?,
        email,
        identification_number: parsed(
            "identification_number",
            tax_id,
            "must be a valid CPF or CNPJ",
        )?,
        zip_code: parsed("zip_code", code, "must have 8 digits")?,
        street_name: text("street_name")?,
        street_number: text("street_number")?,
        neighborhood: text("neighborhood")?,
        city: text("city")?,
        federal_unit: parsed(
            "federal_unit",
            unit,
            "must be the two letters of a Brazilian state",
        )?,
    }))
}

/// The shop's own texts: an object of strings, stored unchanged.
fn metadata(members: &Members<'_>) -> Result<Box<RawValue>, Refusal> {
    let refused = |reason: &str| members.refused("metadata", reason);
    let source = match members.value("metadata") {
        Value::Null => "{}",
        Value::Other(source) => source,
        Value::Text(_) | Value::Number(_) => "",
    };
    let object = Object::parse(source).ok();
    let object = object.filter(|object| !object.repeats_a_member());
    let object = object.ok_or_else(|| refused("must be an object with no member twice"))?;
    if object.names().count() > METADATA_MAX {
        return Err(refused(&format!(
            "must have at most {METADATA_MAX} members"
        )));
    }
    for name in object.names() {
        if name.is_empty() || name.chars().nth(METADATA_NAME_MAX).is_some() {
            let reason = format!("must have names of 1 to {METADATA_NAME_MAX} characters");
            return Err(refused(&reason));
        }
        let Value::Text(source) = object.get(name) else {
            return Err(refused("must have strings only"));
        };
        let text = unescape(source).ok_or_else(not_unicode)?;
        if text.chars().nth(METADATA_TEXT_MAX).is_some() {
            let reason = format!("must have texts of at most {METADATA_TEXT_MAX} characters");
            return Err(refused(&reason));
        }
        if holds_card_number(&text) || holds_card_number(name) {
            return Err(refused(HOLDS_CARD_NUMBER));
        }
    }
    RawValue::from_string(source.to_owned()).map_err(|_| refused("must be an object"))
}

fn expires_at(members: &Members<'_>, now: Timestamp) -> Result<Option<Timestamp>, Refusal> {
    let Some(text) = members.string("expires_at")? else {
        return Ok(None);
    };
    let time = Timestamp::parse(text.trim());
    let time = time.map_err(|_| {
        members.refused("expires_at", "must be an ISO 8601 date-time with an offset")
    })?;
    let is_fit = (now + LIFETIME_MIN..=now + LIFETIME_MAX).contains(&time);
    is_fit
        .then_some(Some(time))
        .ok_or_else(|| members.refused("expires_at", END_OUT_OF_RANGE))
}

/// Whether the expiry is the only problem. A retry of a request that was valid earlier has it,
/// because the expiry comes closer.
pub(crate) fn is_end_out_of_range(refusal: &Refusal) -> bool {
    refusal.field.is_some() && refusal.detail.ends_with(END_OUT_OF_RANGE)
}

/// An `https` address, or `http` to this machine, without user information.
fn is_web_address(text: &str) -> bool {
    let Ok(uri) = text.parse::<Uri>() else {
        return false;
    };
    let (Some(scheme), Some(authority)) = (uri.scheme(), uri.authority()) else {
        return false;
    };
    let host = authority.host().trim_matches(['[', ']']);
    let is_loopback = |address: std::net::IpAddr| address.is_loopback();
    let is_local = host == "localhost" || host.parse().is_ok_and(is_loopback);
    let is_safe = *scheme == Scheme::HTTPS || (*scheme == Scheme::HTTP && is_local);
    is_safe && !host.is_empty() && !authority.as_str().contains('@')
}
