//! The schemas of requests in the OpenAPI document, built from the tables of the validation. Pure.

use brazil::NETWORKS;
use utoipa::openapi::schema::{ObjectBuilder, SchemaType, Type};
use utoipa::openapi::{Discriminator, KnownFormat, OneOfBuilder, Ref, RefOr, Schema, SchemaFormat};
use utoipa::{PartialSchema, ToSchema};
use web::openapi::{closed, constant, integer, text};

use super::{COMMON_FIELDS, FIXED_FIELDS, MethodKind, PaymentRequest, TEXT_LIMITS, amount};

impl MethodKind {
    /// The schema name for one method, such as `PixRequest`.
    pub(crate) fn schema(self, of: &str) -> String {
        match self {
            Self::Card => format!("Card{of}"),
            Self::Pix => format!("Pix{of}"),
            Self::Boleto => format!("Boleto{of}"),
        }
    }
}

impl PartialSchema for PaymentRequest {
    fn schema() -> RefOr<Schema> {
        one_of_methods("Request")
    }
}

fn one_of_methods(of: &str) -> RefOr<Schema> {
    let request = |kind: MethodKind| Ref::from_schema_name(kind.schema(of));
    let mapping = MethodKind::ALL.map(|kind| (kind.name(), request(kind).ref_location));
    let discriminator = Discriminator::with_mapping("payment_method", mapping);
    MethodKind::ALL
        .into_iter()
        .map(request)
        .fold(OneOfBuilder::new(), OneOfBuilder::item)
        .discriminator(Some(discriminator))
        .into()
}

impl ToSchema for PaymentRequest {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.extend(MethodKind::ALL.map(|kind| (kind.schema("Request"), request_by(kind))));
    }
}

/// The body of a payment of an order. The members that the order fixes are not in it.
pub(crate) enum PaymentOfOrderRequest {}

impl PartialSchema for PaymentOfOrderRequest {
    fn schema() -> RefOr<Schema> {
        one_of_methods("OrderRequest")
    }
}

impl ToSchema for PaymentOfOrderRequest {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.extend(MethodKind::ALL.map(|kind| {
            let mut request = request_by(kind);
            if let RefOr::T(Schema::Object(request)) = &mut request {
                for fixed in FIXED_FIELDS {
                    request.properties.remove(fixed);
                    request.required.retain(|field| field != fixed);
                }
            }
            (kind.schema("OrderRequest"), request)
        }));
    }
}

/// The body of a cancellation.
pub(crate) enum Cancellation {}

impl PartialSchema for Cancellation {
    fn schema() -> RefOr<Schema> {
        let body = ObjectBuilder::new().property("status", constant("cancelled"));
        body.required("status").into()
    }
}

impl ToSchema for Cancellation {}

/// The body of a refund.
pub(crate) enum RefundRequest {}

impl PartialSchema for RefundRequest {
    fn schema() -> RefOr<Schema> {
        let what = "BRL, at most two decimals as written; none for all that is left.";
        let or_null = SchemaType::from_iter([Type::Number, Type::Null]);
        let amount = positive_amount().schema_type(or_null);
        let amount = amount.description(Some(what));
        closed(ObjectBuilder::new().property("amount", amount)).into()
    }
}

impl ToSchema for RefundRequest {}

fn request_by(kind: MethodKind) -> RefOr<Schema> {
    let description = match kind {
        MethodKind::Card => "A card payment; the card is charged at once.",
        MethodKind::Pix => "A pix payment; the answer has the code to pay with.",
        MethodKind::Boleto => {
            "A boleto; the answer has its address. Paid within 1 to 3 business days."
        }
    };
    let request = ObjectBuilder::new()
        .description(Some(description))
        .property("payment_method", constant(kind.name()))
        .required("payment_method");
    let fields = COMMON_FIELDS.iter().chain(kind.fields());
    let request = fields.fold(request, |request, field| {
        request
            .property(*field, field_schema(field))
            .required(*field)
    });
    request.into()
}

fn field_schema(field: &str) -> ObjectBuilder {
    let limits = TEXT_LIMITS.iter().find(|(known, _)| *known == field);
    let text = text().max_length(limits.map(|(_, most)| *most));
    let text = text.min_length(limits.map(|_| 1));
    let schema = match field {
        "transaction_amount" => positive_amount(),
        "installments" => {
            let most = NETWORKS.iter().map(|rules| rules.max_installments).max();
            integer().minimum(Some(1)).maximum(most.map(i32::from))
        }
        "email" => text.format(Some(SchemaFormat::KnownFormat(KnownFormat::Email))),
        "identification_number" => text.min_length(Some(1)),
        _ => text.pattern(pattern(field)),
    };
    schema.description(description(field))
}

fn pattern(field: &str) -> Option<&'static str> {
    Some(match field {
        "expiration_month" => "^(0[1-9]|1[0-2])$",
        "expiration_year" => "^[0-9]{4}$",
        "security_code" => "^[0-9]{3,4}$",
        "zip_code" => "^[0-9]{5}-?[0-9]{3}$",
        "federal_unit" => "^[A-Za-z]{2}$",
        _ => return None,
    })
}

fn description(field: &str) -> Option<&'static str> {
    Some(match field {
        "transaction_amount" => "BRL, more than zero, at most two decimals as written.",
        "description" => "The purpose of the payment.",
        "email" => {
            "The payer's e-mail address, by the rule of HTML's e-mail field, with a point in the \
             domain."
        }
        "card_number" => {
            "13 to 19 digits, spaces and hyphens allowed, of Visa, Mastercard, Elo, American \
             Express, Hipercard or Diners. Never stored, never logged."
        }
        "security_code" => "3 digits, 4 for American Express. Never stored, never logged.",
        "cardholder_name" => "The name on the card.",
        "identification_number" => {
            "A CPF or a CNPJ (with letters, too), valid by its check digits, with or without \
             punctuation."
        }
        "installments" => "1 to 12; American Express 1 to 6.",
        "zip_code" => "A CEP, with or without its hyphen.",
        "federal_unit" => "The two letters of a Brazilian state.",
        _ => return None,
    })
}

fn positive_amount() -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(Type::Number)
        .exclusive_minimum(Some(0))
        .maximum(Some(amount::MAX))
}
