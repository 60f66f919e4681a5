//! What is told of an analysis, and how the API's document describes it.

use db::Timestamp;
use delivery::openapi::Webhook;
use resource::schema;
use serde::Serialize;
use serde_json::json;
use utoipa::{PartialSchema as _, ToSchema};

use crate::{
    events::EventType,
    rest::{
        json::{Titled, time},
        openapi::EXAMPLE_TIME,
    },
};

/// What is told of an analysis.
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
    /// What the latest analysis of the product suggests to order; null while there is none.
    #[schema(required, minimum = 0)]
    pub(super) suggested_quantity: Option<i64>,
}

/// The event of an analysis, as the API's document describes it.
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
