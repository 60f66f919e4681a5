//! The payload of the event `analysis.created`, and its description in the OpenAPI document.

use db::Timestamp;
use delivery::openapi::Webhook;
use resource::schema;
use serde::Serialize;
use serde_json::json;
use utoipa::{PartialSchema as _, ToSchema};

use crate::{
    api::openapi::EXAMPLE_TIME,
    events::EventType,
    rest::json::{Titled, time},
};

/// The data of the event.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AnalysisPayload<'a> {
    #[schema(minimum = 1)]
    pub(super) id: i64,
    pub(super) result: &'a str,
    #[serde(serialize_with = "time")]
    #[schema(value_type = String, format = DateTime)]
    pub(super) created_at: Timestamp,
    pub(super) product: Titled,
    /// The quantity that the latest analysis of the product suggests to order, or null.
    #[schema(required, minimum = 0)]
    pub(super) suggested_quantity: Option<i64>,
}

pub(crate) fn webhook() -> Webhook {
    let product = Titled {
        id: 1,
        title: "Arroz 5 kg".to_owned(),
    };
    Webhook {
        kind: EventType::AnalysisCreated.name(),
        example_time: schema::EXAMPLE_TIME,
        id: "onAnalysisCreated",
        summary: "A restock analysis was made",
        about: "The analysis as the API shows it, with the product and the quantity that it suggests to order.",
        schema: "AnalysisCreated",
        data: AnalysisPayload::schema(),
        example: json!(AnalysisPayload {
            id: 3,
            result: "Arroz 5 kg: peça 24 unidades até 24/11/2026.",
            created_at: EXAMPLE_TIME,
            product,
            suggested_quantity: Some(24),
        }),
    }
}
