//! Parses the body of an event. Pure functions.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

/// The type of the events that create outflows.
const PAID: &str = "order.paid";
/// The statuses of payments that brought no money, or whose money was given back.
const OVER: [&str; 4] = ["refunded", "charged_back", "cancelled", "rejected"];
/// Limits of an event, in items and characters: those of an order in a checkout.
const ITEMS_MAX: usize = 100;
const ID_MAX: usize = 100;
const REFERENCE_MAX: usize = 64;
const TITLE_MAX: usize = 256;
const SKU_MAX: usize = 200;

/// A paid order, with the fields that matter for stock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NewOrder {
    /// The order's id in the checkout.
    pub(super) id: String,
    /// The shop's own order number.
    pub(super) reference: Option<String>,
    /// One line per serie number, at least one.
    pub(super) lines: Vec<NewLine>,
}

/// The units of one serie number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NewLine {
    pub(super) sku: String,
    pub(super) title: String,
    pub(super) quantity: i64,
}

/// Why the body is not an event of an order.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("The event cannot be read: {0}.")]
pub(super) struct Unreadable(String);

/// The members of an object, not yet parsed.
type Members = BTreeMap<String, Box<RawValue>>;

/// Parses a member of the object at `path`. A missing one is null. `kind` says what it must be.
fn member<'a, T: Deserialize<'a>>(
    members: &'a Members,
    (path, name): (&str, &str),
    kind: &str,
) -> Result<T, Unreadable> {
    let text = members.get(name).map_or("null", |value| value.get());
    serde_json::from_str(text).map_err(|_| Unreadable(format!("{path}{name} is no {kind}")))
}

/// Parses the body of an event. `None` if the event creates no outflows: its type is another one,
/// all its payments are [`OVER`], or no item has a serie number. Unknown members are ignored.
pub(super) fn read(body: &[u8]) -> Result<Option<NewOrder>, Unreadable> {
    let event: Members = serde_json::from_slice(body)?;
    let kind: String = member(&event, ("", "type"), "text")?;
    if kind != PAID {
        return Ok(None);
    }
    let data: Members = member(&event, ("", "data"), "object")?;
    let id: String = member(&data, ("data.", "id"), "text")?;
    if id.is_empty() || !id.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(Unreadable("data.id is no id".to_owned()));
    }
    fits("id", &id, ID_MAX)?;
    let reference: Option<String> = member(&data, ("data.", "reference"), "text")?;
    let reference = reference.filter(|reference| !reference.is_empty());
    if let Some(reference) = &reference {
        fits("reference", reference, REFERENCE_MAX)?;
    }
    let payments: Option<Vec<Members>> = member(&data, ("data.", "payments"), "list of objects")?;
    let payments = payments.unwrap_or_default();
    let is_over = |payment: &Members| {
        let status = payment
            .get("status")
            .map(|status| status.get().trim_matches('"'));
        status.is_some_and(|status| OVER.contains(&status))
    };
    if !payments.is_empty() && payments.iter().all(is_over) {
        return Ok(None);
    }
    let lines = lines(&member::<Vec<_>>(
        &data,
        ("data.", "items"),
        "list of objects",
    )?)?;
    Ok((!lines.is_empty()).then_some(NewOrder {
        id,
        reference,
        lines,
    }))
}

/// Adds up the units of each serie number, in the order of the items.
fn lines(items: &[Members]) -> Result<Vec<NewLine>, Unreadable> {
    if items.len() > ITEMS_MAX {
        let message = format!("data.items has more than {ITEMS_MAX} items");
        return Err(Unreadable(message));
    }
    let mut lines: Vec<NewLine> = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let name = |member| format!("items[{index}].{member}");
        let path = format!("data.items[{index}].");
        let title: String = member(item, (&path, "title"), "text")?;
        fits(&name("title"), &title, TITLE_MAX)?;
        let quantity: i64 = member(item, (&path, "quantity"), "whole number")?;
        if quantity < 1 {
            let message = format!("{path}quantity is less than 1");
            return Err(Unreadable(message));
        }
        let sku: Option<String> = member(item, (&path, "sku"), "text")?;
        let sku = sku.as_deref().unwrap_or_default().trim().to_owned();
        fits(&name("sku"), &sku, SKU_MAX)?;
        if sku.is_empty() {
            continue;
        }
        match lines.iter_mut().find(|line| line.sku == sku) {
            // Saturates: no stock covers that many units.
            Some(line) => line.quantity = line.quantity.saturating_add(quantity),
            None => lines.push(NewLine {
                sku,
                title,
                quantity,
            }),
        }
    }
    Ok(lines)
}

fn fits(name: &str, text: &str, most: usize) -> Result<(), Unreadable> {
    if text.contains('\0') {
        let message = format!("data.{name} has a character that no text can hold");
        return Err(Unreadable(message));
    }
    if text.chars().count() > most {
        let message = format!("data.{name} has more than {most} characters");
        return Err(Unreadable(message));
    }
    Ok(())
}

impl From<serde_json::Error> for Unreadable {
    fn from(error: serde_json::Error) -> Self {
        Self(error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn order(items: &Value) -> Result<Option<NewOrder>, Unreadable> {
        let data = json!({"id": "ord_1", "reference": "1042", "status": "paid", "items": items});
        read(json!({"type": PAID, "data": data}).to_string().as_bytes())
    }

    fn item(sku: Option<&str>, quantity: i64) -> Value {
        json!({"title": "Café", "quantity": quantity, "unit_price": 12.50, "sku": sku})
    }

    #[test]
    fn equal_serie_numbers_add_up_and_items_without_one_move_nothing() {
        let items = json!([
            item(Some("789"), 2),
            item(None, 5),
            item(Some("790"), 1),
            item(Some(" 789 "), 3),
            item(Some(" "), 1)
        ]);
        let lines = order(&items).unwrap().unwrap().lines;
        let lines: Vec<_> = lines
            .iter()
            .map(|line| (line.sku.as_str(), line.quantity))
            .collect();
        assert_eq!(lines, [("789", 5), ("790", 1)]);
        let many = json!([item(Some("789"), i64::MAX), item(Some("789"), 1)]);
        let lines = order(&many).unwrap().unwrap().lines;
        assert_eq!(lines[0].quantity, i64::MAX);
        for nothing in [json!([]), json!([item(None, 1)])] {
            assert_eq!(order(&nothing), Ok(None));
        }
    }

    #[test]
    fn an_order_whose_money_was_given_back_moves_nothing() {
        for (status, is_moved) in [
            ("approved", true),
            ("in_process", true),
            ("refunded", false),
            ("charged_back", false),
        ] {
            let payments = [json!({"status": "cancelled"}), json!({"status": status})];
            let data =
                json!({"id": "ord_1", "items": [item(Some("789"), 1)], "payments": payments});
            let body = json!({"type": PAID, "data": data}).to_string();
            assert_eq!(
                read(body.as_bytes()).unwrap().is_some(),
                is_moved,
                "{status}"
            );
        }
    }

    #[test]
    fn what_is_no_order_is_named() {
        let long = |length| "x".repeat(length);
        let one = |change: Value| {
            let mut item = item(Some("789"), 1);
            for (name, value) in change.as_object().unwrap() {
                item[name] = value.clone();
            }
            json!({"id": "ord_1", "reference": null, "items": [item]})
        };
        let many: Vec<Value> = (0..=ITEMS_MAX).map(|_| item(None, 1)).collect();
        for (data, expected) in [
            (json!(null), "data is no object"),
            (json!(["ord_1", null, []]), "data is no object"),
            (json!({"id": 1, "items": []}), "data.id is no text"),
            (json!({"id": "ord_1"}), "data.items is no list of objects"),
            (
                json!({"id": "ord_1", "items": [["Café", 1, "789"]]}),
                "data.items is no list of objects",
            ),
            (json!({"id": "", "items": []}), "data.id is no id"),
            (json!({"id": "a b", "items": []}), "data.id is no id"),
            (
                json!({"id": long(101), "items": []}),
                "data.id has more than 100",
            ),
            (
                json!({"id": "ord_1", "reference": long(65), "items": []}),
                "data.reference has more than 64",
            ),
            (json!({"id": "ord_1", "items": many}), "more than 100 items"),
            (one(json!({"quantity": 0})), "data.items[0].quantity"),
            (
                one(json!({"quantity": 1.5})),
                "data.items[0].quantity is no whole number",
            ),
            (one(json!({"title": long(257)})), "data.items[0].title"),
            (one(json!({"sku": long(201)})), "data.items[0].sku"),
            (
                one(json!({"sku": "7\u{0}9"})),
                "data.items[0].sku has a character",
            ),
        ] {
            let body = json!({"type": PAID, "data": data}).to_string();
            let refused = read(body.as_bytes()).unwrap_err().to_string();
            assert!(refused.contains(expected), "{expected}: {refused}");
        }
        let list = r#"["order.paid",{"id":"ord_1","reference":null,"items":[]}]"#;
        for body in ["", "null", "[]", "{}", r#"{"type":1}"#, "\u{feff}{}", list] {
            let refused = read(body.as_bytes()).unwrap_err().to_string();
            assert!(!refused.contains("struct"), "{body}: {refused}");
        }
    }
}
