//! The history of a record, as its page shows it.

use db::Timestamp;
use web::locale::Locale;

use crate::{
    State,
    accounts::Model,
    audit::{self, Done, Entry},
    page::part::{Part, part},
    rest::{Refusal, json::time_text, list::PageNumber, resource::Wanted},
};

/// How many changes a page tells.
const TOLD: u64 = 10;

/// One change.
#[derive(Debug)]
pub(crate) struct Change {
    /// What was done, by whom.
    pub(crate) text: String,
    /// When, for people.
    pub(crate) time: String,
    /// When, for programs.
    pub(crate) machine_time: String,
}

/// The last changes of a record, newest first: a part of its page.
///
/// # Errors
///
/// As [`part()`].
pub(crate) async fn changes(
    state: &State,
    model: Model,
    id: i64,
    locale: Locale,
) -> Result<Part<Vec<Change>>, Refusal> {
    part("history", read(state, model, id, locale)).await
}

async fn read(
    state: &State,
    model: Model,
    id: i64,
    locale: Locale,
) -> Result<Vec<Change>, Refusal> {
    let wanted = Wanted {
        page: PageNumber::Number(1),
        size: TOLD,
    };
    let page = audit::history(state, model, id, wanted).await?;
    Ok(page
        .results
        .iter()
        .map(|entry| change(entry, locale))
        .collect())
}

fn change(entry: &Entry, locale: Locale) -> Change {
    let done = match entry.done {
        Done::Added => locale.text("Criado", "Added").to_owned(),
        Done::Deleted => locale.text("Excluído", "Deleted").to_owned(),
        Done::Imported => locale.text("Importado", "Imported").to_owned(),
        Done::Changed => {
            let fields: Vec<_> = entry
                .fields
                .iter()
                .map(|field| field_name(field, locale))
                .collect();
            let changed = locale.text("Alterado:", "Changed:");
            format!("{changed} {}", fields.join(", "))
        }
    };
    let who = entry
        .user
        .as_ref()
        .map_or(locale.text("sistema", "system"), |(_, name)| name);
    Change {
        text: format!("{done} · {who}"),
        time: locale.date_time(entry.created_at),
        machine_time: machine_time(entry.created_at),
    }
}

/// A time for `datetime` attributes.
pub(crate) fn machine_time(time: Timestamp) -> String {
    time_text(time)
}

/// What people call a field of a record.
pub(crate) fn field_name(field: &str, locale: Locale) -> String {
    let (portuguese, english) = match field {
        "name" => ("nome", "name"),
        "title" => ("título", "title"),
        "description" => ("descrição", "description"),
        "category" => ("categoria", "category"),
        "brand" => ("marca", "brand"),
        "supplier" => ("fornecedor", "supplier"),
        "product" => ("produto", "product"),
        "serie_number" => ("número de série", "serie number"),
        "cost_price" => ("preço de custo", "cost price"),
        "selling_price" => ("preço de venda", "selling price"),
        "quantity" => ("quantidade", "quantity"),
        "threshold" => ("estoque mínimo", "low-stock threshold"),
        "url" => ("endereço", "address"),
        "types" => ("eventos", "events"),
        "secret" => ("segredo", "secret"),
        "enabled" => ("ligado", "enabled"),
        "deliveries" => ("entregas recomeçadas", "deliveries begun anew"),
        "lead_time_days" => ("prazo de entrega, em dias", "lead time, in days"),
        "lead_time_deviation_days" => (
            "desvio do prazo, em dias",
            "deviation of the lead time, in days",
        ),
        "service_level" => ("nível de serviço, em %", "service level, in %"),
        "review_interval_days" => ("intervalo entre revisões, em dias", "days between reviews"),
        "pack_multiple" => (
            "unidades por embalagem de compra",
            "units in a pack as it is bought",
        ),
        "first_name" => ("nome", "first name"),
        "last_name" => ("sobrenome", "last name"),
        "email" => ("e-mail", "e-mail"),
        "code" | "off_code" => ("código", "code"),
        "password" | "off_password" => ("sua senha", "your password"),
        "old_password" => ("senha atual", "current password"),
        "new_password" => ("senha nova", "new password"),
        "new_password_again" => ("senha nova, outra vez", "new password, again"),
        other => return other.replace('_', " "),
    };
    locale.text(portuguese, english).to_owned()
}
