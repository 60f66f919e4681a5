//! `balcao bench` runs at any size and prints each of its figures.

use test_kit::database::{Database, Engine};
use test_kit::process::{Start, printed};

/// Runs a measurement in a folder that it removes; what it prints.
fn bench(command: &str, arguments: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("bench");
    let mut all: Vec<&str> = command.split_whitespace().collect();
    all.extend(["--folder", place.to_str().unwrap()]);
    all.extend(arguments);
    let output = Start::new(all).output();
    assert!(output.status.success(), "{}", printed(&output));
    assert!(!place.exists(), "the folder is removed");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Measures an inventory that is too small to take long.
fn inventory(arguments: &[&str]) -> String {
    let small = "bench inventory --products 60 --movements 400 --large-products 80 --large-movements 600 --connections 2 \
                 --seconds 1 --rounds 1 --requests 2";
    bench(small, arguments)
}

fn assert_figures(said: &str, figures: &[&str]) {
    for figure in figures {
        assert!(
            said.lines().any(|line| line.starts_with(figure)),
            "{figure}:\n{said}"
        );
    }
}

#[test]
fn inventory_is_measured_beside_what_the_machine_does_and_list_by_list() {
    let said = inventory(&["--only", "sqlite,lists"]);
    assert_figures(
        &said,
        &[
            "SQLite: list of 10 beside a bare handler: ",
            "SQLite: one product beside a bare handler: ",
            "SQLite: durable sales beside one commit after the other: ",
            "SQLite: memory: ",
            "SQLite: products, page 1,000: ",
            "SQLite: products, search by one word: ",
            "SQLite: inflows, supplier: ",
            "SQLite: outflows, date_from and date_to, a month: ",
            "SQLite: combinations within the goal: ",
        ],
    );
}

#[test]
fn pages_are_opened_and_weighed() {
    let said = inventory(&["--only", "pages"]);
    assert_figures(
        &said,
        &[
            "SQLite: page / (dashboard, a year): 50th ",
            "SQLite: page /products/, search: 50th ",
            "SQLite: page /products/<id>/: 50th ",
            "SQLite: page /outflows/new/: 50th ",
            "SQLite: pages within the goals: ",
        ],
    );
    // What pages weigh does not depend on the machine.
    let kibibytes = |text: &str| text.trim_end_matches(" KiB").parse::<f64>().unwrap();
    for line in said.lines().filter(|line| line.contains("; first view ")) {
        let (_, weights) = line.split_once("; first view ").unwrap();
        let (first, rest) = weights.split_once(", repeated ").unwrap();
        let (again, _) = rest.split_once("   [").unwrap();
        assert!(kibibytes(first) < 150.0, "{line}");
        assert!(kibibytes(again) < 20.0, "{line}");
    }
}

#[test]
fn lists_are_measured_on_postgresql_too() {
    let database = Database::new(Engine::Postgres);
    let said = inventory(&["--only", "lists", "--large-postgres", database.address()]);
    assert_figures(
        &said,
        &[
            "PostgreSQL: products, category and brand: ",
            "PostgreSQL: combinations within the goal: ",
        ],
    );
}

#[test]
fn a_part_without_its_database_is_refused() {
    let output = Start::new(["bench", "inventory", "--only", "postgres"]).output();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--postgres"));
}

#[test]
fn deliveries_are_measured_and_what_those_who_never_answer_cost() {
    let small = "bench inventory-delivery --events 50 --products 5 --milliseconds 100 --pairs 2";
    let said = bench(small, &[]);
    assert_figures(
        &said,
        &[
            "deliveries a second from SQLite, ",
            "outflows with a dead receiver, SQLite: ",
            "outflows with a model that hangs, SQLite: ",
        ],
    );
}

#[test]
fn orders_are_made_paid_told_and_listed() {
    let small = "bench checkout-orders --connections 2 --seconds 1 --paid 20 --pairs 1 --told 10 --listed 300 --requests 2";
    let said = bench(small, &[]);
    assert_figures(
        &said,
        &[
            "orders made a second, 2 connections: ",
            "payments of orders a second, beside plain payments in turns: ",
            "from the provider's notification to order.paid, 50 a second: 50th ",
            "300 orders: the last page: 50th ",
        ],
    );
}
