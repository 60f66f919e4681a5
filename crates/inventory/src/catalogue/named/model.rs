//! The fields of a brand, a category or a supplier.

use db::Timestamp;
use resource::{id, resource, text, time};

use crate::{catalogue::MAX_NAME, rest::fields::MAX_DESCRIPTION};

resource! {
    /// A record as the API shows it. The id is 0 before the record is stored.
    pub struct NamedRecord, NamedInput {
        id: i64 = id(),
        name: String = text("Nome", "Name", MAX_NAME).name().listed(),
        description: Option<String> = text("Descrição", "Description", MAX_DESCRIPTION).long().edited_in_list(),
        created_at: Timestamp = time("Criado em", "Created at").listed_for_staff(),
        updated_at: Timestamp = time("Alterado em", "Updated at").listed().minor(),
    }
}
