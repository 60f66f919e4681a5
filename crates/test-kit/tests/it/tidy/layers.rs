//! Allowed dependencies between crates and between the layers of a feature, and calls that only one
//! place may make.

use std::collections::BTreeMap;

use super::source::Source;
use super::{File, files, none, root};

/// Each crate and the crates of this workspace that it may depend on.
const MAY_DEPEND_ON: [(&str, &[&str]); 13] = [
    (
        "balcao",
        &[
            "bench",
            "brazil",
            "checkout",
            "db",
            "delivery",
            "generator",
            "inventory",
            "sandbox",
            "web",
        ],
    ),
    (
        "bench",
        &["checkout", "db", "delivery", "inventory", "sandbox", "web"],
    ),
    ("brazil", &[]),
    ("checkout", &["brazil", "db", "delivery", "web"]),
    ("db", &[]),
    ("delivery", &["db", "resource", "web"]),
    ("generator", &["db", "inventory", "resource"]),
    (
        "inventory",
        &["brazil", "db", "delivery", "resource", "web"],
    ),
    ("resource", &["db", "web"]),
    ("sandbox", &["brazil", "db", "web"]),
    ("simulation", &["checkout", "db", "web"]),
    ("test-kit", &[]),
    ("web", &["db"]),
];

/// The sources of the product, tests left out.
fn sources() -> Vec<(File, Source)> {
    files()
        .into_iter()
        .filter(|file| file.is_rust() && !file.is_test())
        .map(|file| {
            let source = Source::read(&file.text);
            (file, source)
        })
        .collect()
}

#[test]
fn crates_know_only_those_below_them() {
    let mut wrong = Vec::new();
    for entry in std::fs::read_dir(root().join("crates")).unwrap() {
        let folder = entry.unwrap().path();
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        let manifest: toml::Table = manifest.parse().unwrap();
        let Some((_, allowed)) = MAY_DEPEND_ON
            .iter()
            .find(|(crate_name, _)| *crate_name == name)
        else {
            wrong.push(format!("crates/{name}: not in the table MAY_DEPEND_ON"));
            continue;
        };
        let dependencies = manifest.get("dependencies").and_then(toml::Value::as_table);
        for dependency in dependencies.into_iter().flat_map(toml::Table::keys) {
            let is_ours = MAY_DEPEND_ON.iter().any(|(ours, _)| ours == dependency);
            if is_ours && !allowed.contains(&dependency.as_str()) {
                wrong.push(format!("crates/{name} depends on {dependency}"));
            }
        }
    }
    none(&wrong, "A crate knows only the crates below it:");
}

#[test]
fn every_crate_forbids_unsafe_code() {
    let manifest = |path: &str| -> toml::Table {
        let text = std::fs::read_to_string(root().join(path)).unwrap();
        text.parse().unwrap()
    };
    let lints = &manifest("Cargo.toml")["workspace"]["lints"];
    assert_eq!(lints["rust"]["unsafe_code"].as_str(), Some("forbid"));
    for (name, _) in MAY_DEPEND_ON {
        let manifest = manifest(&format!("crates/{name}/Cargo.toml"));
        let inherits = manifest["lints"]["workspace"].as_bool();
        assert_eq!(inherits, Some(true), "{name}");
    }
}

#[test]
fn sql_stands_in_stores_only_and_every_text_once() {
    let mut outside = Vec::new();
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (file, source) in sources() {
        for (line, text) in source.strings.iter().filter(|(_, text)| is_sql(text)) {
            let place = format!("{}:{line}", file.path);
            if file.path.starts_with("crates/db/") {
                continue;
            }
            let is_derived = file.path == "crates/resource/src/sql.rs";
            if !file.is_within("store") && !is_derived {
                outside.push(place.clone());
            }
            let words: Vec<_> = text
                .split_whitespace()
                .filter(|word| *word != "\\")
                .collect();
            places.entry(words.join(" ")).or_default().push(place);
        }
    }
    none(
        &outside,
        "SQL stands only in store.rs or store/ of a feature, in resource's sql.rs, in crates/db and in migrations:",
    );
    let twice: Vec<_> = places
        .into_iter()
        .filter(|(_, places)| places.len() > 1)
        .map(|(sql, places)| format!("{}: {sql}", places.join(", ")))
        .collect();
    none(&twice, "Every SQL text stands once:");
}

fn is_sql(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let (first, second) = (
        words.next().unwrap_or_default(),
        words.next().unwrap_or_default(),
    );
    match first {
        "SELECT" => !second.is_empty(),
        "INSERT" => ["INTO", "OR"].contains(&second),
        "DELETE" => second == "FROM",
        "UPDATE" => words.any(|word| word == "SET"),
        "WITH" => words.any(|word| word == "AS" || word == "SELECT"),
        "CREATE" | "ALTER" | "DROP" => {
            ["TABLE", "INDEX", "UNIQUE", "VIEW", "TRIGGER"].contains(&second)
        }
        "PRAGMA" | "VACUUM" => true,
        _ => false,
    }
}

#[test]
fn handlers_call_services_and_never_the_store() {
    let mut wrong = Vec::new();
    for (file, source) in sources() {
        if file.is_within("api") || file.is_within("pages") {
            for line in source.lines_with("store::") {
                wrong.push(format!("{}:{line}", file.path));
            }
        }
    }
    none(
        &wrong,
        "A handler calls one service function; it does not name the store:",
    );
}

#[test]
fn stores_never_open_a_transaction() {
    let mut wrong = Vec::new();
    for (file, source) in sources() {
        // Unit tests of a store ask a database for the plans of its statements.
        let is_asked = file.is_within("plans");
        if file.is_within("store") && !is_asked && !file.path.starts_with("crates/db/") {
            for opening in [".write(async", ".read(async", ".report(async"] {
                for line in source.lines_with(opening) {
                    wrong.push(format!("{}:{line}", file.path));
                }
            }
        }
    }
    none(
        &wrong,
        "The service function owns the transaction; a store function takes it:",
    );
}

#[test]
fn card_numbers_and_security_codes_are_seen_only_where_they_are_checked_and_sent() {
    let mut wrong = Vec::new();
    for (file, source) in sources() {
        let may = ["request", "provider"]
            .iter()
            .any(|place| file.is_within(place));
        if file.path.starts_with("crates/checkout/") && !may {
            for line in source.lines_with(".expose(") {
                wrong.push(format!("{}:{line}", file.path));
            }
        }
    }
    none(
        &wrong,
        "Card data is exposed only in request/ and provider/:",
    );
}

#[test]
fn only_balcao_reads_the_environment() {
    let mut wrong = Vec::new();
    for (file, source) in sources() {
        if !file.path.starts_with("crates/balcao/") {
            for call in ["env::var", "env::vars", "env::set_var"] {
                for line in source.lines_with(call) {
                    wrong.push(format!("{}:{line}", file.path));
                }
            }
        }
    }
    none(
        &wrong,
        "Settings come from balcao; nobody else reads the environment:",
    );
}

#[test]
fn models_know_no_database_and_no_http() {
    let mut wrong = Vec::new();
    for (file, source) in sources() {
        if file.is_within("model") {
            for name in [
                "axum::",
                "reqwest::",
                "db::Tx",
                "db::Conn",
                "store::",
                "async fn",
            ] {
                for line in source.lines_with(name) {
                    wrong.push(format!("{}:{line}: {name}", file.path));
                }
            }
        }
    }
    none(&wrong, "A model is types and rules, without I/O:");
}

/// `./test --fast` leaves modules of this name out, and so needs no browser.
#[test]
fn tests_that_open_a_browser_stand_in_modules_named_browser() {
    let mut wrong = Vec::new();
    for file in files().into_iter().filter(File::is_rust) {
        // An example is no test: it only runs by hand.
        let is_free = file.path.starts_with("crates/test-kit/") || file.is_within("examples");
        if !is_free && !file.is_within("browser") {
            for line in Source::read(&file.text).lines_with("test_kit::browser") {
                wrong.push(format!("{}:{line}", file.path));
            }
        }
    }
    none(
        &wrong,
        "Tests that open a browser stand in tests/it/browser.rs or tests/it/browser/:",
    );
}
