//! A product's own supply terms (lead time, service level, …), which override the shop's.

use db::Money;
use resource::{Record as _, decimal, integer, resource};
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
    fields::{Draft, FieldErrors, Members, Mode},
};

resource! {
    /// A product's own terms. For an absent one, the shop's setting applies.
    #[derive(Copy, Default)]
    pub struct RestockTerms, RestockTermsInput {
        // Days from an order to its arrival in stock.
        lead_time_days: Option<i64> =
            integer("Prazo de entrega, em dias", "Lead time, in days", 1, MAX_DAYS),
        // The standard deviation of the lead time.
        lead_time_deviation_days: Option<Money> =
            decimal("Variação do prazo, em dias", "Lead time variability, in days"),
        // The percentage of replenishment cycles that should have no stock-out.
        service_level: Option<Money> = decimal("Nível de serviço, em %", "Service level, in %"),
        review_interval_days: Option<i64> =
            integer("Intervalo entre revisões, em dias", "Days between reviews", 1, MAX_DAYS),
        pack_multiple: Option<i64> =
            integer("Unidades por embalagem de compra", "Units per purchase pack", 1, MAX_PACK),
    }
}

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
        let all = Self::FIELDS.iter().zip(properties);
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

impl RestockTerms {
    /// Parses the members of a request. Every member is required and may be null.
    pub fn read(members: &Members) -> Result<Self, FieldErrors> {
        let Draft {
            input, mut errors, ..
        } = Draft::<Self>::read(members, Mode::Whole);
        for field in Self::FIELDS {
            if !members.contains_key(field.name) {
                errors.add(field.name, Message::REQUIRED);
            }
        }
        let level = input.service_level.flatten().map(Money::cents);
        if level.is_some_and(|level| !(MIN_LEVEL..=MAX_LEVEL).contains(&level)) {
            let message = Message::fixed(
                "O valor deve ser de 50 a 99,99.",
                "Ensure this value is from 50 to 99.99.",
            );
            errors.add("service_level", message);
        }
        let deviation = input.lead_time_deviation_days.flatten();
        if deviation.is_some_and(|days| days.cents() > i128::from(MAX_DAYS) * 100) {
            errors.add("lead_time_deviation_days", Message::at_most(MAX_DAYS));
        }
        if !errors.is_empty() {
            return Err(errors.in_order(Self::FIELDS));
        }
        Ok(Self {
            lead_time_days: input.lead_time_days.flatten(),
            lead_time_deviation_days: input.lead_time_deviation_days.flatten(),
            service_level: input.service_level.flatten(),
            review_interval_days: input.review_interval_days.flatten(),
            pack_multiple: input.pack_multiple.flatten(),
        })
    }
}
