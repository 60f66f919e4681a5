//! `docs/conformance.md` names, for every row of the specification's tables, the tests that hold it; here is checked that
//! no row is missing there and that the tests it names exist.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The specification's tables and numbered rules, with their rows.
const ROWS: &[(&str, &[&str])] = &[
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
            "Provider requests per hour",
            "Provider requests per day",
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

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The document's tables by the heading above them: each row's name, and the tests named beside it.
fn tables(document: &str) -> BTreeMap<&str, Vec<(&str, Vec<&str>)>> {
    let mut tables = BTreeMap::<_, Vec<_>>::new();
    let mut heading = "";
    for line in document.lines() {
        if let Some(text) = line.strip_prefix("## ") {
            heading = text;
        }
        let mut cells = line
            .strip_prefix("| ")
            .into_iter()
            .flat_map(|row| row.trim_end_matches(" |").split(" | "));
        if let (Some(row), Some(tests)) = (cells.next(), cells.last()) {
            let names = tests.split('`').skip(1).step_by(2).collect();
            if row != "Row" {
                tables.entry(heading).or_default().push((row, names));
            }
        }
    }
    tables
}

/// The names of all tests in the sources below `folder`.
fn collect_tests(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect_tests(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let source = fs::read_to_string(&path).unwrap();
            found.extend(tests_of(&source).into_iter().map(str::to_owned));
        }
    }
}

/// Functions with an attribute of a test, and names given to the macro that runs a test on both engines.
fn tests_of(source: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let mut is_test = false;
    for line in source.lines().map(str::trim_start) {
        is_test |= line.starts_with("#[test]") || line.starts_with("#[tokio::test");
        if let Some(function) = line
            .strip_prefix("fn ")
            .or_else(|| line.strip_prefix("async fn "))
        {
            names.extend(function.split('(').next().filter(|_| is_test));
            is_test = false;
        }
    }
    let on_both = source.split("on_both_engines!(").skip(1);
    names.extend(on_both.filter_map(|rest| rest.trim_start().split(',').next()));
    names
}

#[test]
fn every_row_of_the_specification_is_held_by_tests_that_exist() {
    let document = fs::read_to_string(root().join("docs/conformance.md")).unwrap();
    let tables = tables(&document);
    let mut tests = BTreeSet::new();
    collect_tests(&root().join("crates"), &mut tests);
    for (heading, rows) in ROWS {
        let table = tables
            .get(heading)
            .unwrap_or_else(|| panic!("no table {heading}"));
        let named: Vec<_> = table.iter().map(|(row, _)| *row).collect();
        assert_eq!(named, *rows, "{heading}");
        for (row, names) in table {
            assert!(!names.is_empty(), "{heading}, {row}: no test");
            for name in names {
                assert!(
                    tests.contains(*name),
                    "{heading}, {row}: there is no test {name}"
                );
            }
        }
    }
    assert_eq!(
        tables.len(),
        ROWS.len(),
        "a table that the specification does not have"
    );
}
