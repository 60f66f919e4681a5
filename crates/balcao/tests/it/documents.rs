//! Documents about this crate: README's commands do what README says, and the metrics of
//! operations.md exist.

use std::path::Path;
use std::process::Command;

use serde_json::Value;
use test_kit::process::{Balcao, Start};

use crate::inventory::Caller;
use crate::orders::{pay_by_card, until_there_are};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap()
        .parent()
        .unwrap()
}

/// The commands of README in blocks marked as shell, one a line.
fn commands() -> Vec<String> {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let mut commands = Vec::new();
    let mut inside = false;
    for line in readme.lines() {
        match line {
            "```sh" => inside = true,
            "```" => inside = false,
            _ if inside => commands.push(line.to_owned()),
            _ => {}
        }
    }
    commands
}

/// Runs a curl command of README against the demo of this test, whatever its ports.
async fn curl(command: &str, demo: &Balcao) -> String {
    let here = command
        .replace("http://127.0.0.1:8000", &demo.url("checkout").await)
        .replace("http://127.0.0.1:8001", &demo.url("inventory").await)
        .replace("http://127.0.0.1:8002", &demo.url("sandbox").await);
    let output =
        tokio::task::block_in_place(|| Command::new("sh").args(["-c", &here]).output()).unwrap();
    assert!(
        output.status.success(),
        "{here}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_tour_of_readme_goes_as_it_says() {
    let demo = Start::new(["demo"]).ready().await;
    let tour: Vec<String> = commands()
        .into_iter()
        .filter(|command| command.starts_with("curl "))
        .collect();
    let [health, pay, repeat, list, charges, low, order] = tour.as_slice() else {
        panic!("the tour has six commands, and an order follows: {tour:?}")
    };
    let json =
        |text: String| serde_json::from_str::<Value>(&text).unwrap_or_else(|_| panic!("{text}"));
    assert_eq!(json(curl(health, &demo).await)["status"], "healthy");
    let payment = json(curl(pay, &demo).await);
    assert_eq!(payment["status"], "pending");
    assert!(
        curl(repeat, &demo)
            .await
            .to_lowercase()
            .contains("idempotent-replayed: true")
    );
    assert_eq!(
        json(curl(list, &demo).await)["results"][0]["id"],
        payment["id"]
    );
    assert_eq!(
        json(curl(charges, &demo).await).as_array().unwrap().len(),
        1
    );
    assert!(json(curl(low, &demo).await)["count"].as_u64().unwrap() > 0);
    let order = json(curl(order, &demo).await);
    goods_leave(&demo, &order).await;
}

/// Pays the order of README with its card. The product has enough stock, whatever the demo has sold
/// until today.
async fn goods_leave(demo: &Balcao, order: &Value) {
    let program = Caller::log_in(demo, "admin", "demo-password").await;
    program.receive(1, 1, 2).await;
    let before = program.get("/api/v1/products/1/").await;
    assert_eq!(before["serie_number"], order["items"][0]["sku"]);
    pay_by_card(order["url"].as_str().unwrap()).await;
    let left = before["quantity"].as_i64().unwrap() - 2;
    until_there_are(&program, 1, left).await;
    let newest = program.get("/api/v1/outflows/?page_size=1").await;
    assert_eq!(newest["results"][0]["description"], "Pedido 1041");
}

#[test]
fn the_other_commands_of_readme_exist() {
    let commands = commands();
    for command in [
        "cargo run --release -- demo",
        "./test",
        "balcao config check",
        "balcao user create ana --superuser",
        "balcao serve",
    ] {
        assert!(
            commands.iter().any(|line| line == command),
            "{command} is not in README"
        );
    }
    assert!(root().join("test").exists(), "./test");
    let described = std::fs::read_to_string(root().join("docs/configuration.md")).unwrap();
    for variable in commands
        .iter()
        .filter_map(|line| line.strip_prefix("export ")?.split('=').next())
    {
        let name = variable.strip_suffix("_FILE").unwrap_or(variable);
        assert!(described.contains(&format!("`{name}`")), "{name}");
    }
}

/// The sources of all crates, one after the other.
fn sources(folder: &Path, into: &mut String) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, into);
        } else if path.extension().is_some_and(|kind| kind == "rs") {
            into.push_str(&std::fs::read_to_string(path).unwrap());
        }
    }
}

#[test]
fn the_metrics_that_operators_are_told_of_exist() {
    let document = std::fs::read_to_string(root().join("docs/operations.md")).unwrap();
    let mut code = String::new();
    for part in std::fs::read_dir(root().join("crates")).unwrap() {
        sources(&part.unwrap().path().join("src"), &mut code);
    }
    let mut found = 0;
    for rest in document.split("`balcao_").skip(1) {
        let name = rest.split(['`', '{']).next().unwrap();
        if name.starts_with(|first: char| !first.is_ascii_lowercase()) {
            continue;
        }
        let name = name.strip_suffix("_total").unwrap_or(name);
        assert!(code.contains(&format!("\"{name}\"")), "balcao_{name}");
        found += 1;
    }
    assert!(found >= 10, "{found}");
}
