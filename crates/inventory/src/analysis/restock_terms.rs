//! A product's own supply terms (lead time, service level, …), which override the shop's.

use db::Money;
use resource::{Field, decimal, integer};
use serde::Serialize;
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        RefOr, Schema, Type,
        schema::{ObjectBuilder, SchemaType},
    },
};
use web::openapi::{nullable_integer, text};

use crate::rest::{
    Message,
    fields::{FieldErrors, Members, Mode, Reader, Setting},
};

/// A product's own terms. For an absent one, the shop's setting applies.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct RestockTerms {
    /// The lead time: days from an order to its arrival in stock.
    pub lead_time_days: Option<i64>,
    /// The standard deviation of the lead time in days, with two decimals.
    #[serde(serialize_with = "two_decimals")]
    pub lead_time_deviation_days: Option<Money>,
    /// The percentage of replenishment cycles that should have no stock-out, with two decimals.
    #[serde(serialize_with = "two_decimals")]
    pub service_level: Option<Money>,
    /// Days between two reviews of the stock.
    pub review_interval_days: Option<i64>,
    /// Units per purchase pack.
    pub pack_multiple: Option<i64>,
}

/// The fields, in the order of the form and of `of_row`.
pub(crate) const FIELDS: [&Field; 5] = [
    &integer::<Option<i64>>(
        "Prazo de entrega, em dias",
        "Lead time, in days",
        1,
        MAX_DAYS,
    )
    .named("lead_time_days"),
    &decimal::<Option<Money>>(
        "Variação do prazo, em dias",
        "Lead time variability, in days",
    )
    .named("lead_time_deviation_days"),
    &decimal::<Option<Money>>("Nível de serviço, em %", "Service level, in %")
        .named("service_level"),
    &integer::<Option<i64>>(
        "Intervalo entre revisões, em dias",
        "Days between reviews",
        1,
        MAX_DAYS,
    )
    .named("review_interval_days"),
    &integer::<Option<i64>>(
        "Unidades por embalagem de compra",
        "Units per purchase pack",
        1,
        MAX_PACK,
    )
    .named("pack_multiple"),
];
const MAX_DAYS: i64 = 730;
const MAX_PACK: i64 = 1_000_000;
const MIN_LEVEL: i128 = 5000;
const MAX_LEVEL: i128 = 9999;

impl PartialSchema for RestockTerms {
    fn schema() -> RefOr<Schema> {
        let units = |most| nullable_integer().minimum(Some(1)).maximum(Some(most));
        let types = [Type::String, Type::Number, Type::Null];
        let decimal = || text().schema_type(SchemaType::from_iter(types.clone()));
        let properties = [
            (units(MAX_DAYS), "From an order to its goods on the shelf."),
            (
                decimal(),
                "The standard deviation of the lead time, in days; returned as a string with two decimals.",
            ),
            (
                decimal(),
                "From 50 to 99.99: in how many of a hundred replenishments the stock should last. \
                 Answered as a string with two decimals.",
            ),
            (units(MAX_DAYS), "Days between two reviews of the stock."),
            (units(MAX_PACK), "Units that can only be ordered together."),
        ];
        let all = FIELDS.into_iter().zip(properties);
        all.fold(
            ObjectBuilder::new(),
            |object, (field, (property, about))| {
                let property = property.description(Some(about));
                object.property(field.name, property).required(field.name)
            },
        )
        .into()
    }
}

impl ToSchema for RestockTerms {}

/// Serialises with two decimals, like all decimal values of the API.
#[expect(clippy::ref_option, reason = "the signature that serde asks for")]
fn two_decimals<S: serde::Serializer>(
    value: &Option<Money>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => serializer.collect_str(value),
        None => serializer.serialize_none(),
    }
}

impl RestockTerms {
    /// Parses the members of a request. Every member is required and may be null.
    ///
    /// # Errors
    ///
    /// The validation messages by field.
    pub fn read(members: &Members) -> Result<Self, FieldErrors> {
        let mut reader = Reader::new(members, Mode::Whole);
        let lead_time = reader.optional_integer("lead_time_days", 1, MAX_DAYS);
        let deviation = reader.optional_decimal("lead_time_deviation_days");
        let level = reader.optional_decimal("service_level");
        let review = reader.optional_integer("review_interval_days", 1, MAX_DAYS);
        let pack = reader.optional_integer("pack_multiple", 1, MAX_PACK);
        for field in FIELDS {
            reader.require(field.name);
        }
        let mut errors = reader.finish();
        let cents = |setting: &Setting<Option<Money>>| match setting {
            Setting::Set(Some(value)) => Some(value.cents()),
            _ => None,
        };
        if cents(&level).is_some_and(|level| !(MIN_LEVEL..=MAX_LEVEL).contains(&level)) {
            let message = Message::fixed(
                "O valor deve ser de 50 a 99,99.",
                "Ensure this value is from 50 to 99.99.",
            );
            errors.add("service_level", message);
        }
        if cents(&deviation).is_some_and(|days| days > i128::from(MAX_DAYS) * 100) {
            errors.add("lead_time_deviation_days", Message::at_most(MAX_DAYS));
        }
        if !errors.is_empty() {
            return Err(errors.in_order(&FIELDS.map(|field| field.name)));
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
