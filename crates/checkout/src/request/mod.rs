//! Validates a request from content type and raw body, in the order of the specification's
//! processing rule 1.
//!
//! Contains every check of `POST /create_payment` before the provider, with the exact status and
//! text of each refusal, and the small bodies of cancellations and refunds. `access` checks HTTPS;
//! only its refusal is here. Nothing here waits, stores or sends, and no refusal contains a value
//! of the request.

pub(crate) mod amount;
mod body;
mod card;
mod fingerprint;
mod max_amounts;
mod refusal;
mod schema;
#[cfg(test)]
mod tests;
pub(crate) mod text;

use brazil::{FederalUnit, PostalCode, TaxId};
use db::{Money, Timestamp, stored_enum};
use serde::Serialize;

pub(crate) use body::{Member, Members, not_unicode};
pub use body::{check_content_type, read as read_body};
pub use card::{Card, CardNumber, Expiry, LATEST_YEAR, SecurityCode};
pub use max_amounts::{MaxAmounts, MaxAmountsError};
pub use refusal::Refusal;
pub(crate) use schema::{Cancellation, PaymentOfOrderRequest, RefundRequest};
pub(crate) use text::HOLDS_CARD_NUMBER;
pub use text::TEXT_LIMITS;
use text::limit;

use crate::json::Value;

/// A request for a payment that has passed all checks of this service.
#[derive(Debug)]
pub struct PaymentRequest {
    /// Card, pix or boleto, with the data that each needs.
    pub method: Method,
    /// More than zero, at most 999,999,999,999.99 reais.
    pub amount: Money,
    /// What the payment is for.
    pub description: String,
    /// The payer's e-mail address.
    pub email: String,
    /// The payer's CPF or CNPJ.
    pub tax_id: TaxId,
}

/// The payment method with its data.
#[derive(Debug)]
pub enum Method {
    /// By card, charged at once.
    Card(Card),
    /// By pix: a code that the payer's bank reads.
    Pix,
    /// By boleto: a slip that is paid at a bank.
    Boleto(BoletoPayer),
}

/// The terms that an order fixes for its payments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OrderTerms {
    pub(crate) amount: Money,
    pub(crate) description: String,
    /// The allowed methods.
    pub(crate) methods: Vec<MethodKind>,
    /// The most installments, if fewer than the card network's limit.
    pub(crate) max_installments: Option<u8>,
}

stored_enum! {
    /// A method without its data.
    #[derive(Hash, Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum MethodKind {
        /// `card`
        Card = "card";
        /// `pix`
        Pix = "pix";
        /// `boleto`
        Boleto = "boleto";
    }
}

/// The payer of a boleto and their address, both of which the bank registers.
#[derive(Debug)]
pub struct BoletoPayer {
    /// Given name.
    pub first_name: String,
    /// Family name.
    pub last_name: String,
    /// CEP.
    pub zip_code: PostalCode,
    /// Street.
    pub street_name: String,
    /// House number. May contain letters.
    pub street_number: String,
    /// Neighborhood.
    pub neighborhood: String,
    /// City.
    pub city: String,
    /// State or federal district.
    pub federal_unit: FederalUnit,
}

/// The members that every method requires besides `payment_method`, in the specification's order.
pub(crate) const COMMON_FIELDS: &[&str] = &["transaction_amount", "description", "email"];
/// The members that the order fixes. A payment of an order must not have them.
const FIXED_FIELDS: [&str; 2] = ["transaction_amount", "description"];

impl Method {
    /// The method without its data.
    pub const fn kind(&self) -> MethodKind {
        match self {
            Method::Card(_) => MethodKind::Card,
            Method::Pix => MethodKind::Pix,
            Method::Boleto(_) => MethodKind::Boleto,
        }
    }
}

impl MethodKind {
    /// The members that the method requires besides the common ones, in the specification's order.
    pub(crate) const fn fields(self) -> &'static [&'static str] {
        match self {
            MethodKind::Card => &[
                "card_number",
                "expiration_month",
                "expiration_year",
                "security_code",
                "cardholder_name",
                "identification_number",
                "installments",
            ],
            MethodKind::Pix => &["identification_number"],
            MethodKind::Boleto => &[
                "first_name",
                "last_name",
                "identification_number",
                "zip_code",
                "street_name",
                "street_number",
                "neighborhood",
                "city",
                "federal_unit",
            ],
        }
    }
}

/// Validates a request for a payment and returns the first problem. Unknown members are ignored.
pub fn check(
    content_type: Option<&str>,
    body: &[u8],
    now: Timestamp,
) -> Result<PaymentRequest, Refusal> {
    check_for(content_type, body, None, now)
}

/// Same as [`check`] for a payment of an order, whose `terms` supply the fixed members and limit
/// methods and installments.
pub(crate) fn check_for(
    content_type: Option<&str>,
    body: &[u8],
    terms: Option<&OrderTerms>,
    now: Timestamp,
) -> Result<PaymentRequest, Refusal> {
    check_content_type(content_type)?;
    let members = Members::of_body(body)?;
    let of_methods = MethodKind::ALL.into_iter().flat_map(MethodKind::fields);
    // A string that is not Unicode is a fault of the body, so it comes before the members' checks.
    for name in COMMON_FIELDS
        .iter()
        .chain(of_methods)
        .chain(&["payment_method"])
    {
        members.get(name)?;
    }
    if terms.is_some() {
        members.refuse(&FIXED_FIELDS, "is fixed by the order")?;
    }
    let method = members.get("payment_method")?;
    if matches!(method, Member::Absent) {
        return Err(Refusal::payment_method_required());
    }
    let is_asked = |field: &&&'static str| terms.is_none() || !FIXED_FIELDS.contains(*field);
    let common: Vec<_> = COMMON_FIELDS.iter().filter(is_asked).copied().collect();
    members.require(&common)?;
    let kind = match method {
        Member::Text(text) => MethodKind::of(&text),
        _ => None,
    }
    .ok_or_else(Refusal::invalid_payment_method)?;
    if terms.is_some_and(|terms| !terms.methods.contains(&kind)) {
        let reason = "is not a method that the order takes";
        return Err(Refusal::invalid("payment_method", reason));
    }
    members.require(kind.fields())?;
    let amount = match terms {
        Some(terms) => terms.amount,
        None => amount::positive(members.value("transaction_amount"), "transaction_amount")?,
    };
    let most_installments = terms.and_then(|terms| terms.max_installments);
    let card = match kind {
        MethodKind::Card => Some(check_card(&members, most_installments, now)?),
        MethodKind::Pix | MethodKind::Boleto => None,
    };
    let description = match terms {
        Some(terms) => terms.description.clone(),
        None => members.required_text("description", limit("description"))?,
    };
    let email = text::email(&members.required_string("email")?)?;
    if let Some(card) = &card {
        refuse_number(card, "description", &description)?;
        refuse_number(card, "email", &email)?;
    }
    let tax_id = check_tax_id(&members)?;
    let method = match (card, kind) {
        (Some(card), _) => Method::Card(card),
        (None, MethodKind::Boleto) => Method::Boleto(check_boleto_payer(&members)?),
        (None, _) => Method::Pix,
    };
    Ok(PaymentRequest {
        method,
        amount,
        description,
        email,
        tax_id,
    })
}

/// Checks the body of a cancellation, `{"status":"cancelled"}`.
///
/// # Errors
/// 400 when the status is absent or another one; 422 as for every body.
pub fn check_cancellation(content_type: Option<&str>, body: &[u8]) -> Result<(), Refusal> {
    check_content_type(content_type)?;
    let members = Members::of_body(body)?;
    members.require(&["status"])?;
    match members.get("status")? {
        Member::Text(status) if status == "cancelled" => Ok(()),
        _ => Err(Refusal::invalid_payment_status()),
    }
}

/// Validates the body of a refund: the amount, or none for the remaining amount. The body is
/// optional. A blank amount or a misspelt member is refused, since it would refund everything.
///
/// # Errors
/// 400 `Invalid amount`; 422 for an unknown member, and as for every body.
pub fn check_refund(content_type: Option<&str>, body: &[u8]) -> Result<Option<Money>, Refusal> {
    if body.is_empty() {
        return Ok(None);
    }
    check_content_type(content_type)?;
    let refund = Members::of_body(body)?;
    refund.refuse_unknown(&["amount"])?;
    match refund.value("amount") {
        Value::Null => Ok(None),
        value => amount::refund_amount(value).map(Some),
    }
}

fn check_card(
    members: &Members<'_>,
    most_installments: Option<u8>,
    now: Timestamp,
) -> Result<Card, Refusal> {
    let (number, network) = match members.get("card_number")? {
        Member::Text(text) => CardNumber::parse(&text),
        _ => None,
    }
    .ok_or_else(Refusal::invalid_card_number)?;
    let (month, year) = (
        members.required_string("expiration_month")?,
        members.required_string("expiration_year")?,
    );
    let expiry = Expiry::parse(month.trim(), year.trim(), card::today(now))?;
    let security_code =
        SecurityCode::parse(members.required_string("security_code")?.trim(), network)?;
    let holder = members.required_text("cardholder_name", limit("cardholder_name"))?;
    let most = network.max_installments();
    let most = most_installments.map_or(most, |fewer| fewer.min(most));
    let installments = members.count("installments", most.into())?;
    let installments = installments.and_then(|count| u8::try_from(count).ok());
    let installments = installments.ok_or_else(|| Refusal::missing("installments"))?;
    let card = Card {
        number,
        security_code,
        expiry,
        holder,
        installments,
        network,
    };
    refuse_number(&card, "cardholder_name", &card.holder)?;
    Ok(card)
}

/// Refuses a text that contains the request's own card number, even among further digits. Other
/// card numbers cannot be recognised among further digits.
fn refuse_number(card: &Card, field: &'static str, text: &str) -> Result<(), Refusal> {
    if card.number.is_in(text) {
        return Err(Refusal::invalid(field, HOLDS_CARD_NUMBER));
    }
    Ok(())
}

fn check_tax_id(members: &Members<'_>) -> Result<TaxId, Refusal> {
    let text = members.required_string("identification_number")?;
    TaxId::parse(text.trim())
        .map_err(|_| Refusal::invalid("identification_number", "must be a valid CPF or CNPJ"))
}

fn check_boleto_payer(members: &Members<'_>) -> Result<BoletoPayer, Refusal> {
    let checked = |field| members.required_text(field, limit(field));
    let first_name = checked("first_name")?;
    let last_name = checked("last_name")?;
    let zip_code = PostalCode::parse(members.required_string("zip_code")?.trim())
        .map_err(|_| Refusal::invalid("zip_code", "must have 8 digits"))?;
    let street_name = checked("street_name")?;
    let street_number = checked("street_number")?;
    let neighborhood = checked("neighborhood")?;
    let city = checked("city")?;
    let federal_unit = FederalUnit::parse(members.required_string("federal_unit")?.trim())
        .map_err(|_| {
            Refusal::invalid(
                "federal_unit",
                "must be the two letters of a Brazilian state",
            )
        })?;
    Ok(BoletoPayer {
        first_name,
        last_name,
        zip_code,
        street_name,
        street_number,
        neighborhood,
        city,
        federal_unit,
    })
}
