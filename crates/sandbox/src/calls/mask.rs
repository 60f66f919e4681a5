//! Removes card data from recorded calls.

use serde_json::Value;

const SECRET_MEMBERS: [&str; 2] = ["card_number", "security_code"];
const MASK: &str = "****";

/// A body that may be recorded: JSON with the card's members masked. Of anything else only the size
/// is recorded.
pub(crate) fn body(bytes: &[u8]) -> Value {
    if bytes.is_empty() {
        return Value::Null;
    }
    match serde_json::from_slice::<Value>(bytes) {
        Ok(mut value) => {
            mask(&mut value);
            value
        }
        Err(_) => Value::String(format!("not JSON, {} bytes", bytes.len())),
    }
}

fn mask(value: &mut Value) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                if SECRET_MEMBERS.contains(&name.as_str()) {
                    *member = Value::String(MASK.to_owned());
                } else {
                    mask(member);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(mask),
        Value::String(text) if is_card_number(text) => MASK.clone_into(text),
        Value::Number(number) if is_card_number(&number.to_string()) => {
            *value = Value::String(MASK.to_owned());
        }
        _ => {}
    }
}

/// Whether a text has the digits of a card number.
fn is_card_number(text: &str) -> bool {
    let digits: String = text.chars().filter(|c| !matches!(c, ' ' | '-')).collect();
    (13..=19).contains(&digits.len()) && brazil::is_luhn_valid(&digits)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn card_data_is_masked_at_any_depth() {
        let sent = json!({
            "card_number": "4235647728025682", "security_code": 123,
            "deep": [{"card_number": "x", "note": "4235 6477 2802 5682", "number": 4_235_647_728_025_682_u64}],
            "amount": 12.3,
        });
        let kept = body(sent.to_string().as_bytes());
        assert_eq!(
            kept,
            json!({
                "card_number": "****", "security_code": "****",
                "deep": [{"card_number": "****", "note": "****", "number": "****"}],
                "amount": 12.3,
            })
        );
    }

    #[test]
    fn what_cannot_be_read_is_not_kept() {
        assert_eq!(body(b""), Value::Null);
        assert_eq!(body(b"card_number=4235647728025682"), "not JSON, 28 bytes");
    }
}
