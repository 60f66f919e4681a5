//! The form control of a field.

use crate::{Field, Kind};

impl Field {
    /// The `inputmode` of the control, which chooses the keyboard of phones.
    pub const fn keyboard(&self) -> &'static str {
        match self.kind {
            Kind::Id | Kind::Integer { .. } => "numeric",
            Kind::Price | Kind::Decimal => "decimal",
            _ => self.control,
        }
    }

    /// The attributes of the control. `maxlength` is doubled, because browsers count some
    /// characters as two.
    pub fn attributes(&self) -> String {
        let required = if self.is_required() { "required" } else { "" };
        let focus = if self.is_name { "autofocus" } else { "" };
        let scanned = if self.is_scanned {
            "spellcheck=\"false\" data-scan"
        } else {
            ""
        };
        let length = match self.kind {
            Kind::Text { max } if self.control != "text" => {
                format!("type=\"{}\" maxlength=\"{}\"", self.control, 2 * max)
            }
            Kind::Text { max } | Kind::LongText { max } => format!("maxlength=\"{}\"", 2 * max),
            Kind::Price | Kind::Decimal => "inputmode=\"decimal\" maxlength=\"40\"".to_owned(),
            Kind::Integer { .. } => "inputmode=\"numeric\" maxlength=\"30\"".to_owned(),
            _ => String::new(),
        };
        let complete = if self.is_long() {
            ""
        } else {
            "autocomplete=\"off\""
        };
        format!("{required} {length} {complete} {scanned} {focus}")
    }
}
