//! The payloads of the events of stock, and their descriptions in the OpenAPI document.

use delivery::openapi::Webhook;
use resource::schema::{EXAMPLE_TIME, Shape, schema};
use serde::Serialize;
use serde_json::json;
use utoipa::{
    PartialSchema as _, ToSchema,
    openapi::{Object, schema::ObjectBuilder},
};
use web::openapi::{integer, nullable_integer};

use super::movements::model::MovementRecord;
use crate::{api::openapi::object, events::EventType, movement::Movement, rest::json::Titled};

/// The payload of an outflow, with the product's quantity afterwards.
#[derive(Serialize)]
pub(super) struct OutflowPayload<'a> {
    #[serde(flatten)]
    pub(super) outflow: &'a MovementRecord,
    pub(super) product_quantity: i64,
}

/// The stock level of a product that crossed its threshold.
#[derive(Clone, Copy, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct LevelPayload<'a> {
    pub(super) product: &'a Titled,
    #[schema(minimum = 0)]
    pub(super) quantity: i64,
    #[schema(minimum = 0)]
    pub(super) threshold: i64,
}

/// The payload of a low product: its level, and the suggested order quantity if there is one.
#[derive(Serialize)]
pub(super) struct AlertPayload<'a> {
    #[serde(flatten)]
    pub(super) level: LevelPayload<'a>,
    pub(super) suggested_quantity: Option<i64>,
}

pub(crate) fn webhooks() -> [Webhook; 3] {
    let mut outflow = Movement::Outflow.example();
    if let Some(members) = outflow.as_object_mut() {
        members.insert("product_quantity".to_owned(), json!(8));
    }
    let product = &Titled {
        id: 1,
        title: "Arroz 5 kg".to_owned(),
    };
    let level = |quantity| LevelPayload {
        product,
        quantity,
        threshold: 10,
    };
    [
        Webhook {
            kind: EventType::OutflowCreated.name(),
            example_time: EXAMPLE_TIME,
            id: "onOutflowCreated",
            summary: "Goods were shipped out",
            about: "The outflow as the API shows it, with the product's quantity after it.",
            schema: "OutflowCreated",
            data: outflow_schema().into(),
            example: outflow,
        },
        Webhook {
            kind: EventType::LowStock.name(),
            example_time: EXAMPLE_TIME,
            id: "onLowStock",
            summary: "A product is below its threshold",
            about: "After every outflow that leaves it there, or once for each crossing with \
                    `BALCAO_INVENTORY_LOW_STOCK_ALERT=once`.",
            schema: "ProductLowStock",
            data: alert_schema().into(),
            example: json!(AlertPayload {
                level: level(8),
                suggested_quantity: Some(24),
            }),
        },
        Webhook {
            kind: EventType::StockRecovered.name(),
            example_time: EXAMPLE_TIME,
            id: "onStockRecovered",
            summary: "A product is at its threshold or above again",
            about: "With `BALCAO_INVENTORY_LOW_STOCK_ALERT=once` only.",
            schema: "ProductStockRecovered",
            data: LevelPayload::schema(),
            example: json!(level(34)),
        },
    ]
}

fn outflow_schema() -> Object {
    let left = integer()
        .minimum(Some(0))
        .description(Some("The product's quantity after the movement."));
    ObjectBuilder::from(schema(Movement::Outflow.fields(), Shape::Record))
        .property("product_quantity", left)
        .required("product_quantity")
        .build()
}

fn alert_schema() -> Object {
    let description =
        "What the latest analysis of the product suggests to order; null while there is none.";
    let suggested = nullable_integer()
        .minimum(Some(0))
        .description(Some(description));
    object::<LevelPayload<'_>>()
        .property("suggested_quantity", suggested)
        .required("suggested_quantity")
        .build()
}
