//! The payloads of the events of stock, and their descriptions in the OpenAPI document.

use db::{Error, Timestamp};
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
use crate::{
    api::openapi::object,
    events::{self, EventType},
    movement::Movement,
    rest::json::{Titled, time_text},
};

/// The payload of an outflow, with the product's quantity afterwards.
#[derive(Serialize)]
pub(super) struct OutflowPayload<'a> {
    #[serde(flatten)]
    pub(super) outflow: &'a MovementRecord,
    pub(super) product_quantity: i64,
}

/// SQL: the body of an outflow's event, from the columns of the statement that creates many. It is
/// the body of one with placeholders, so it has the members of every other.
pub(in crate::stock) fn outflow_event_sql() -> Result<String, Error> {
    let number = |place: i64| i64::MIN + place;
    let at = Timestamp::from_micros(0);
    let outflow = &MovementRecord {
        id: number(0),
        supplier: None,
        product: Titled {
            id: number(1),
            title: ":title".to_owned(),
        },
        quantity: number(2),
        description: Some(":description".to_owned()),
        created_at: at,
        updated_at: at,
    };
    let data = OutflowPayload {
        outflow,
        product_quantity: number(3),
    };
    let body = events::body(EventType::OutflowCreated, &data, at)?;
    let columns = [
        (time_text(at), "time_text"),
        (number(0).to_string(), "CAST(id AS TEXT)"),
        (number(1).to_string(), "CAST(product_id AS TEXT)"),
        (number(2).to_string(), "CAST(quantity AS TEXT)"),
        (number(3).to_string(), "CAST(balance AS TEXT)"),
        (r#"":title""#.to_owned(), "CAST(to_json(title) AS TEXT)"),
        (
            r#"":description""#.to_owned(),
            "COALESCE(CAST(to_json(description) AS TEXT), 'null')",
        ),
    ];
    let with_column = |sql: String, (placeholder, column): (String, &str)| {
        sql.replace(&placeholder, &format!("' || {column} || '"))
    };
    Ok(columns.into_iter().fold(format!("'{body}'"), with_column))
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
