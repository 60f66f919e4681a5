//! A provider that responds at once, always with the same payment apart from its id, so that only
//! the service is measured. The sandbox draws QR codes and writes a journal, which costs as much as
//! the service itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::Router;
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::{get, post};

/// The routes: creating a payment returns a pending pix, reading it returns a paid one.
pub(super) fn routes() -> Router {
    Router::new()
        .route("/v1/payments", post(create))
        .route("/v1/payments/{id}", get(read))
        .with_state(Arc::new(AtomicU64::new(1_000_000_000)))
}

async fn create(State(last): State<Arc<AtomicU64>>) -> impl IntoResponse {
    let id = last.fetch_add(1, Ordering::Relaxed);
    let pending = payment(id, "pending", "pending_waiting_transfer", "null");
    (StatusCode::CREATED, JSON, pending)
}

async fn read(Path(id): Path<u64>) -> impl IntoResponse {
    let paid_at = r#""2026-11-20T08:00:01.000-04:00""#;
    (JSON, payment(id, "approved", "accredited", paid_at))
}

const JSON: [(header::HeaderName, &str); 1] = [(header::CONTENT_TYPE, "application/json")];

fn payment(id: u64, status: &str, detail: &str, date_approved: &str) -> String {
    format!(
        r#"{{"id":{id},"status":"{status}","status_detail":"{detail}","transaction_amount":19.99,"transaction_amount_refunded":0,"currency_id":"BRL","payment_method_id":"pix","payment_type_id":"bank_transfer","date_created":"2026-11-20T08:00:00.000-04:00","date_approved":{date_approved},"payer":{{"email":"buyer@example.com","identification":{{"type":"CPF","number":"12345678909"}}}},"point_of_interaction":{{"type":"PIX","transaction_data":{{"qr_code":"00020126580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-4266554400005204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***63041D3D","qr_code_base64":"iVBORw0KGgo=","ticket_url":"http://127.0.0.1/ticket"}}}}}}"#
    )
}
