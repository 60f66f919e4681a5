//! The tables and numbered rules of the inventory specification, with their rows.

pub(super) const ROWS: super::Rows = &[
    (
        "Brand, category, supplier",
        &["id", "name", "description", "created_at", "updated_at"],
    ),
    (
        "Product",
        &[
            "id",
            "title",
            "category",
            "brand",
            "description",
            "serie_number",
            "cost_price",
            "selling_price",
            "quantity",
            "created_at, updated_at",
        ],
    ),
    (
        "Inflow",
        &[
            "id",
            "supplier",
            "product",
            "quantity",
            "description",
            "created_at, updated_at",
        ],
    ),
    (
        "Outflow",
        &[
            "id",
            "product",
            "quantity",
            "description",
            "created_at, updated_at",
        ],
    ),
    ("Analysis result", &["id", "result", "created_at"]),
    (
        "Format rules",
        &[
            "ids are integers",
            "datetimes are ISO 8601 in UTC ending in Z",
            "decimals are strings with two decimals",
            "requests and responses are JSON",
        ],
    ),
    (
        "Relations and constraints",
        &[
            "each relation is one to many",
            "every foreign key is protected",
            "required fields are not null",
            "serie_number is unique when provided",
        ],
    ),
    (
        "States and transitions",
        &[
            "(none) → LowStock",
            "(none) → NormalStock",
            "inflow created",
            "outflow created, enough available",
            "outflow created, too little available",
            "low-stock check, below the threshold",
            "low-stock check, at or above the threshold",
        ],
    ),
    (
        "Authentication endpoints",
        &[
            "POST /api/v1/authentication/token/",
            "POST /api/v1/authentication/token/refresh/",
            "POST /api/v1/authentication/token/verify/",
            "POST /login/",
            "POST /token/refresh/",
            "POST /logout/",
        ],
    ),
    (
        "Resource endpoints",
        &[
            "Brands, categories, suppliers, products",
            "Inflows, outflows",
        ],
    ),
    ("Rules", &["1", "2", "3", "4", "5", "6"]),
    (
        "List query parameters",
        &[
            "all: page",
            "all: page_size",
            "brands: search",
            "brands: ordering",
            "categories, suppliers: search",
            "products: search, category, brand, min_price, max_price, ordering",
            "inflows: supplier; inflows, outflows: product, date_from, date_to",
        ],
    ),
    ("List response", &["count", "next", "previous", "results"]),
    (
        "Authentication",
        &[
            "bearer tokens and their lifetimes",
            "session and CSRF",
            "order of checks",
            "Create: add_<model>",
            "Read: view_<model>",
            "Update: change_<model>",
            "Delete: delete_<model>",
            "an expired access token",
        ],
    ),
    (
        "Events",
        &[
            "Outflow webhook",
            "Low-stock alert",
            "quantities follow saved movements",
        ],
    ),
    (
        "Errors: statuses",
        &[
            "200", "201", "204", "400", "401", "403", "404", "405", "422", "500",
        ],
    ),
    (
        "Errors: body shapes",
        &["401, 403, 404", "Validation error", "Alternative envelope"],
    ),
    (
        "Limits",
        &[
            "Default page size",
            "Token lifetimes",
            "Digits before the decimal point of a price",
            "Rate limit, authentication",
            "Rate limit, reads",
            "Rate limit, writes",
        ],
    ),
    (
        "Versioning",
        &[
            "the version is part of the path",
            "the web interface's paths carry none",
        ],
    ),
];
