//! The tables and numbered rules of the payment checkout specification, with their rows.

pub(super) const ROWS: super::Rows = &[
    (
        "Payment",
        &[
            "id",
            "transaction_amount",
            "description",
            "status",
            "status_detail",
            "date_created",
            "date_approved",
            "payment_method_id",
        ],
    ),
    (
        "Payment method data (card)",
        &[
            "type",
            "card_number",
            "expiration_month",
            "expiration_year",
            "security_code",
            "installments",
        ],
    ),
    (
        "Payer",
        &[
            "email",
            "identification_type",
            "identification_number",
            "first_name, last_name",
            "zip_code, street_name, street_number, neighborhood, city",
            "federal_unit",
        ],
    ),
    (
        "Transaction",
        &[
            "id",
            "payment_id",
            "external_resource_url",
            "qr_code",
            "qr_code_base64",
            "ticket_url",
        ],
    ),
    (
        "Shapes of a successful creation response",
        &["card", "pix", "boleto"],
    ),
    (
        "States and transitions",
        &[
            "(none) → pending",
            "pending → approved",
            "pending → rejected",
            "pending → in_process",
            "pending → cancelled",
            "in_process → approved",
            "in_process → rejected",
            "approved → refunded",
            "approved → charged_back",
            "rejected, cancelled, refunded, charged_back are final",
        ],
    ),
    (
        "Endpoints",
        &[
            "GET /",
            "POST /create_payment",
            "GET /health",
            "GET /docs",
            "GET /redoc",
        ],
    ),
    (
        "Common body fields",
        &[
            "payment_method",
            "transaction_amount",
            "description",
            "email",
        ],
    ),
    (
        "Additional fields for card",
        &[
            "card_number",
            "expiration_month",
            "expiration_year",
            "security_code",
            "cardholder_name",
            "identification_number",
            "installments",
        ],
    ),
    ("Additional fields for pix", &["identification_number"]),
    (
        "Additional fields for boleto",
        &[
            "first_name",
            "last_name",
            "identification_number",
            "zip_code",
            "street_name",
            "street_number",
            "neighborhood",
            "city",
            "federal_unit",
        ],
    ),
    ("Processing rules", &["1", "2", "3", "4", "5", "6", "7"]),
    (
        "Authentication",
        &[
            "Authorization",
            "Content-Type",
            "X-Idempotency-Key",
            "an invalid access token",
        ],
    ),
    (
        "Events",
        &[
            "a notification updates the payment",
            "the service emits no events",
        ],
    ),
    (
        "Errors: statuses",
        &["200", "400", "401", "404", "422", "500", "502", "503"],
    ),
    (
        "Errors: details",
        &[
            "Invalid payment method",
            "Invalid amount",
            "Transaction amount must be greater than zero",
            "Payment method required",
            "Missing required field",
            "Invalid card number",
            "Erro PROVIDER 401",
            "Erro PROVIDER 400",
            "the body's shape",
        ],
    ),
    (
        "Limits",
        &[
            "Provider requests per minute",
            "Provider requests per hour, day",
            "Service rate limit per minute",
            "Installments, Visa-like, Mastercard-like, Elo-like",
            "Installments, American-Express-like",
            "transaction_amount",
            "federal_unit",
            "six card networks",
            "retries of clients",
        ],
    ),
    (
        "Versioning",
        &["no version segment in paths", "version 1.0.0"],
    ),
];
