//! Checks that generators of clients for all languages read a document in the same way.

use serde_json::Value;

use super::Document;

impl Document {
    /// Fails unless every schema means the same to clients of any language, and every operation
    /// says who may call it.
    pub fn assert_fit_for_clients(&self) {
        let title = self.value()["info"]["title"].as_str().expect("a title");
        // Generators derive the names of packages and modules from it.
        assert!(title.is_ascii(), "{title}");
        let mut wrong = Vec::new();
        self.walk("", self.value(), &mut wrong);
        let is_secured = self.value().get("security").is_some();
        for operation in self.operations() {
            if !is_secured && operation.described.get("security").is_none() {
                let (method, path) = (operation.method, operation.path);
                wrong.push(format!("{method} {path}: who may call it is not said"));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    fn walk(&self, place: &str, value: &Value, wrong: &mut Vec<String>) {
        match value {
            Value::Object(members) => {
                let complaints = [
                    pattern(value),
                    array(value),
                    integer(value),
                    self.query_parameter(value),
                ];
                wrong.extend(
                    complaints
                        .into_iter()
                        .flatten()
                        .map(|what| format!("{place}: {what}")),
                );
                for (name, member) in members {
                    // Examples are data, not schemas.
                    if !matches!(name.as_str(), "example" | "examples") {
                        self.walk(&format!("{place}/{name}"), member, wrong);
                    }
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.walk(&format!("{place}/{index}"), item, wrong);
                }
            }
            _ => {}
        }
    }

    /// A query parameter needs a type and bounds.
    fn query_parameter(&self, parameter: &Value) -> Option<&'static str> {
        if parameter["in"] != "query" {
            return None;
        }
        let schema = self.resolved(&parameter["schema"]);
        let has = |name: &str| schema.get(name).is_some();
        let is_bounded = match schema["type"].as_str() {
            Some("integer") => has("minimum"),
            Some("string") => ["enum", "format", "pattern", "maxLength"]
                .into_iter()
                .any(has),
            Some("boolean") => true,
            _ => return Some("a query parameter without a type"),
        };
        (!is_bounded).then_some("a query parameter without bounds")
    }
}

/// Python's `re.match` begins at the first character, JavaScript's `test` anywhere: only what is
/// anchored means the same. Clients make a `date-time` an object of their own, which no pattern
/// fits.
fn pattern(schema: &Value) -> Option<&'static str> {
    let pattern = schema.get("pattern")?.as_str()?;
    if !pattern.starts_with('^') || !pattern.ends_with('$') {
        return Some("a pattern that is not anchored on both sides");
    }
    (schema["format"] == "date-time").then_some("a pattern on a date-time")
}

fn array(schema: &Value) -> Option<&'static str> {
    (is_of(schema, "array") && schema.get("items").is_none()).then_some("an array without items")
}

/// Without a format some languages take 32 bits.
fn integer(schema: &Value) -> Option<&'static str> {
    (is_of(schema, "integer") && schema["format"] != "int64")
        .then_some("an integer that is no int64")
}

fn is_of(schema: &Value, kind: &str) -> bool {
    match schema.get("type") {
        Some(Value::String(name)) => name == kind,
        Some(Value::Array(names)) => names.iter().any(|name| name == kind),
        _ => false,
    }
}
