//! A product's own supply terms (lead time, service level, …), which replace what the shop assumes for all.

use db::Money;
use serde::Serialize;
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        RefOr, Schema, Type,
        schema::{ObjectBuilder, SchemaType},
    },
};
use web::openapi::{nullable_integer, text};

use super::store::{
    history::{OwnTerms, subject},
    terms,
};
use crate::{
    State,
    rest::{
        Message, Refusal,
        fields::{FieldErrors, Members, Mode, Reader, Setting},
    },
};

/// A product's own terms as the API and the forms show them; what is null, the shop assumes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct RestockTerms {
    /// Days from an order to its goods on the shelf.
    pub lead_time_days: Option<i64>,
    /// The standard deviation of those days, with two decimals.
    #[serde(serialize_with = "decimal")]
    pub lead_time_deviation_days: Option<Money>,
    /// In how many of a hundred replenishments the stock should last, with two decimals.
    #[serde(serialize_with = "decimal")]
    pub service_level: Option<Money>,
    /// Days from one look at the shelf to the next.
    pub review_interval_days: Option<i64>,
    /// Units that can only be ordered together.
    pub pack_multiple: Option<i64>,
}

/// In their order.
pub(super) const FIELDS: [&str; 5] = [
    "lead_time_days",
    "lead_time_deviation_days",
    "service_level",
    "review_interval_days",
    "pack_multiple",
];
const LONGEST_DAYS: i64 = 730;
const LARGEST_PACK: i64 = 1_000_000;
const LEAST_LEVEL: i128 = 5000;
const GREATEST_LEVEL: i128 = 9999;

impl PartialSchema for RestockTerms {
    fn schema() -> RefOr<Schema> {
        let units = |most| nullable_integer().minimum(Some(1)).maximum(Some(most));
        let types = [Type::String, Type::Number, Type::Null];
        let decimal = || text().schema_type(SchemaType::from_iter(types.clone()));
        let properties = [
            (
                units(LONGEST_DAYS),
                "From an order to its goods on the shelf.",
            ),
            (
                decimal(),
                "Its standard deviation; answered as a string with two decimals.",
            ),
            (
                decimal(),
                "From 50 to 99.99: in how many of a hundred replenishments the stock should last. \
                 Answered as a string with two decimals.",
            ),
            (
                units(LONGEST_DAYS),
                "From one look at the shelf to the next.",
            ),
            (
                units(LARGEST_PACK),
                "Units that can only be ordered together.",
            ),
        ];
        let all = FIELDS.into_iter().zip(properties);
        all.fold(
            ObjectBuilder::new(),
            |object, (field, (property, about))| {
                let property = property.description(Some(about));
                object.property(field, property).required(field)
            },
        )
        .into()
    }
}

impl ToSchema for RestockTerms {}

/// Two decimals, as all decimal values of the API.
#[expect(clippy::ref_option, reason = "the signature that serde asks for")]
fn decimal<S: serde::Serializer>(value: &Option<Money>, serializer: S) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => serializer.collect_str(value),
        None => serializer.serialize_none(),
    }
}

impl RestockTerms {
    /// Reads them from what was sent: every member must be there, each may be null.
    ///
    /// # Errors
    ///
    /// Messages by field.
    pub fn read(members: &Members) -> Result<Self, FieldErrors> {
        let mut reader = Reader::new(members, Mode::Whole);
        let lead_time = reader.optional_integer("lead_time_days", 1, LONGEST_DAYS);
        let deviation = reader.optional_decimal("lead_time_deviation_days");
        let level = reader.optional_decimal("service_level");
        let review = reader.optional_integer("review_interval_days", 1, LONGEST_DAYS);
        let pack = reader.optional_integer("pack_multiple", 1, LARGEST_PACK);
        for field in FIELDS {
            reader.require(field);
        }
        let mut errors = reader.finish();
        let cents = |setting: &Setting<Option<Money>>| match setting {
            Setting::Set(Some(value)) => Some(value.cents()),
            _ => None,
        };
        if cents(&level).is_some_and(|level| !(LEAST_LEVEL..=GREATEST_LEVEL).contains(&level)) {
            let message = Message::fixed(
                "O valor deve ser de 50 a 99,99.",
                "Ensure this value is from 50 to 99.99.",
            );
            errors.add("service_level", message);
        }
        if cents(&deviation).is_some_and(|days| days > i128::from(LONGEST_DAYS) * 100) {
            errors.add("lead_time_deviation_days", Message::at_most(LONGEST_DAYS));
        }
        if !errors.is_empty() {
            return Err(errors.in_order(&FIELDS));
        }
        Ok(Self {
            lead_time_days: lead_time.into_new(),
            lead_time_deviation_days: deviation.into_new(),
            service_level: level.into_new(),
            review_interval_days: review.into_new(),
            pack_multiple: pack.into_new(),
        })
    }
}

impl From<OwnTerms> for RestockTerms {
    fn from(own: OwnTerms) -> Self {
        let decimal = |hundredths: i64| Money::from_cents(hundredths.into());
        Self {
            lead_time_days: own.lead_time,
            lead_time_deviation_days: own.lead_time_deviation.map(decimal),
            service_level: own.service_level.map(decimal),
            review_interval_days: own.review_interval,
            pack_multiple: own.pack_multiple,
        }
    }
}

impl From<RestockTerms> for OwnTerms {
    fn from(terms: RestockTerms) -> Self {
        // Both are bounded when they are read.
        let hundredths = |value: Money| i64::try_from(value.cents()).unwrap_or(0);
        Self {
            lead_time: terms.lead_time_days,
            lead_time_deviation: terms.lead_time_deviation_days.map(hundredths),
            service_level: terms.service_level.map(hundredths),
            review_interval: terms.review_interval_days,
            pack_multiple: terms.pack_multiple,
        }
    }
}

/// A product's own terms; none of an unknown product.
///
/// # Errors
///
/// Faults of the store.
pub async fn terms_read(state: &State, product: i64) -> Result<Option<RestockTerms>, Refusal> {
    let read = async move |conn: &mut db::Conn| subject(conn, product).await;
    let subject = state.db.read::<_, db::Error, _>(read).await?;
    Ok(subject.map(|subject| subject.terms.into()))
}

/// Writes a product's own terms.
///
/// # Errors
///
/// An unknown product, and faults of the store.
pub async fn terms_set(state: &State, product: i64, terms: RestockTerms) -> Result<(), Refusal> {
    let write = async move |tx: &mut db::Tx| {
        let is_known = subject(tx, product).await?.is_some();
        if is_known {
            terms::write(tx, product, terms.into()).await?;
        }
        Ok::<_, db::Error>(is_known)
    };
    if state.db.write(write).await? {
        Ok(())
    } else {
        Err(Refusal::NotFound)
    }
}
