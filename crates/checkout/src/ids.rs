//! What names a payment or an order in the path of an address.

use axum::extract::{FromRequestParts, Path};
use http::request::Parts;
use utoipa::IntoParams;
use utoipa::openapi::path::{Parameter, ParameterIn};
use web::Error;
use web::openapi::{parameter, text};

use crate::errors::{order_not_found, payment_not_found};
use crate::provider::is_provider_id;

/// Declares names in paths: the parameter, its description and example, the rule of its texts, and
/// the error for the others, which name nothing.
macro_rules! names_in_paths {
    ($($(#[$about:meta])* $type:ident($parameter:literal, $what:literal, $example:expr, $is_valid:expr, $not_found:expr);)+) => {$(
        $(#[$about])*
        pub(crate) struct $type(pub(crate) String);

        impl IntoParams for $type {
            fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
                let name = parameter($parameter, ParameterIn::Path, Some($what), text());
                vec![name.example($example.map(<&str>::into)).build()]
            }
        }

        impl<S: Send + Sync> FromRequestParts<S> for $type {
            type Rejection = Error;

            async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
                let path = Path::<String>::from_request_parts(parts, state).await;
                let text = path.ok().map(|Path(text)| text);
                text.filter(|text| $is_valid(text)).map(Self).ok_or_else($not_found)
            }
        }
    )+};
}

names_in_paths! {
    /// The provider's id of a payment.
    PaymentId("id", "The payment's id, as its creation answered it.", Some("1234567890"), is_provider_id, payment_not_found);
    /// The id of an order.
    OrderId("id", "The order's id, as its creation answered it.", Some("ord_019aa5c8f0007cc08f0f3f5f8b8c2f11"), is_order_id, order_not_found);
    /// The token in the address of an order's page. It must not appear in any log.
    PageToken("token", "The last part of the order's `url`.", None, is_any, order_not_found);
}

fn is_order_id(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    text.len() <= 64 && text.bytes().all(is_plain)
}

const fn is_any(_: &str) -> bool {
    true
}
