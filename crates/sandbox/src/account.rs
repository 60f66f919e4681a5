//! The seller's account and its country, as the provider's API returns them. Client libraries read
//! both.

use axum::Json;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use crate::caller::Caller;

/// `GET /v1/identification_types`: the tax ids of Brazil.
pub(crate) async fn identification_types(_caller: Caller) -> Response {
    let kind = |id: &str, length: u8| json!({"id": id, "name": id, "type": "number", "min_length": length, "max_length": length});
    Json([kind("CPF", 11), kind("CNPJ", 14)]).into_response()
}

/// `GET /users/me`: the account that receives all payments. It has no real data: what a sandbox
/// cannot know is null.
pub(crate) async fn me(_caller: Caller) -> Response {
    Json(json!({
        "id": crate::COLLECTOR,
        "nickname": "BALCAO_SANDBOX",
        "registration_date": "2026-01-02T10:00:00.000-04:00",
        "first_name": "Balcão",
        "last_name": "Sandbox",
        "gender": null,
        "country_id": "BR",
        "email": "sandbox@example.com",
        "secure_email": "sandbox@example.com",
        "identification": {"type": "CNPJ", "number": "11222333000181"},
        "address": {"address": null, "city": null, "state": "BR-SP", "zip_code": null},
        "phone": {"area_code": null, "extension": "", "number": "", "verified": false},
        "alternative_phone": {"area_code": "", "extension": "", "number": ""},
        "tags": ["normal", "test_user"],
        "user_type": "normal",
        "logo": null,
        "points": 0,
        "site_id": "MLB",
        "permalink": null,
        "seller_experience": "NEWBIE",
        "bill_data": {"accept_credit_note": null},
        "seller_reputation": seller_reputation(),
        "buyer_reputation": buyer_reputation(),
        "status": status(),
        "company": {
            "brand_name": "Balcão Sandbox", "city_tax_id": "", "corporate_name": "", "identification": "", "state_tax_id": "",
            "cust_type_id": "CO", "soft_descriptor": null,
        },
        "credit": {"consumed": 0, "credit_level_id": "MLB1", "rank": "newbie"},
        "context": {"ip_address": null},
        "registration_identifiers": [],
    }))
    .into_response()
}

fn seller_reputation() -> Value {
    let ratings = json!({"negative": 0, "neutral": 0, "positive": 0});
    let rating = json!({"period": "60 days", "rate": 0, "value": 0});
    json!({
        "level_id": null,
        "power_seller_status": null,
        "transactions": {"canceled": 0, "completed": 0, "period": "historic", "ratings": ratings, "total": 0},
        "metrics": {
            "sales": {"period": "60 days", "completed": 0},
            "claims": rating, "delayed_handling_time": rating, "cancellations": rating,
        },
    })
}

fn buyer_reputation() -> Value {
    let none = json!({"paid": null, "total": null, "units": null});
    json!({
        "canceled_transactions": 0,
        "tags": [],
        "transactions": {
            "canceled": none, "completed": null, "not_yet_rated": none, "period": "historic", "total": null, "unrated": none,
        },
    })
}

fn status() -> Value {
    let allowed = json!({"allow": true, "codes": [], "immediate_payment": {"reasons": [], "required": false}});
    json!({
        "billing": {"allow": true, "codes": []},
        "buy": allowed,
        "confirmed_email": true,
        "shopping_cart": {"buy": "allowed", "sell": "allowed"},
        "immediate_payment": false,
        "list": allowed,
        "mercadoenvios": "not_accepted",
        "mercadopago_account_type": "personal",
        "mercadopago_tc_accepted": true,
        "required_action": null,
        "sell": allowed,
        "site_status": "active",
        "user_type": null,
    })
}
