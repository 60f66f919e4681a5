//! The history of changes on a record's page.

use db::Money;
use resource::{Both, Field, Kind, Value};
use web::locale::Locale;

use crate::{
    access::Model,
    audit::{self, Action, Entry, FieldChange},
    names,
    page::{
        Frame,
        part::{PagePart, part},
    },
    rest::{
        Refusal,
        json::time_text,
        list::PageNumber,
        page::{Page, PageRequest},
    },
};

/// The number of changes on a record's page.
const SHOWN: u64 = 10;

/// Who made a change that no person made.
pub(crate) const SYSTEM: Both = ("sistema", "system");

/// A record that was saved as it was.
const NO_FIELDS: Both = ("Nenhum campo alterado", "No fields changed");

#[derive(Debug)]
pub(crate) struct ChangeView {
    pub(crate) done: String,
    pub(crate) who: String,
    /// The old and the new value of each field.
    pub(crate) values: Vec<String>,
    pub(crate) time: String,
    /// The time for the `datetime` attribute.
    pub(crate) machine_time: String,
}

/// The last changes of a record, newest first, as a part of its page.
pub(crate) async fn changes(
    frame: &Frame,
    model: Model,
    id: i64,
) -> Result<PagePart<Vec<ChangeView>>, Refusal> {
    let read = page(frame, (model, id), (1, SHOWN), phrase);
    part("history", async { Ok::<_, Refusal>(read.await?.results) }).await
}

/// One page of a record's changes, newest first. `number` counts from 1; `words` describes an
/// entry.
pub(crate) async fn page(
    frame: &Frame,
    (model, id): (Model, i64),
    (number, size): (u64, u64),
    words: fn(&Entry, Locale) -> String,
) -> Result<Page<ChangeView>, Refusal> {
    let page_request = PageRequest {
        page: PageNumber::Number(number),
        size,
    };
    let page = audit::history(&frame.state, model, id, page_request).await?;
    let locale = frame.locale;
    Ok(page.map(|entry| ChangeView {
        done: words(&entry, locale),
        values: values(&entry, locale),
        time: locale.date_time(entry.created_at),
        machine_time: time_text(entry.created_at),
        who: match entry.user {
            Some(user) => user.name,
            None => frame.say(SYSTEM).to_owned(),
        },
    }))
}

/// A short description: `Added`, `Changed: title, quantity`.
fn phrase(entry: &Entry, locale: Locale) -> String {
    match entry.action {
        Action::Added => locale.text("Criado", "Added").to_owned(),
        Action::Changed if entry.fields.0.is_empty() => locale.say(NO_FIELDS).to_owned(),
        Action::Changed => {
            let fields: Vec<_> = entry
                .fields
                .names()
                .into_iter()
                .map(|field| names::field_in_a_sentence(locale, field))
                .collect();
            let changed = locale.text("Alterado:", "Changed:");
            format!("{changed} {}", fields.join(", "))
        }
        done => locale.say(done.words()).to_owned(),
    }
}

/// A description as a sentence: `Added.`, `Changed Title and Quantity.`, `Deleted.`
pub(crate) fn sentence(entry: &Entry, locale: Locale) -> String {
    let fields = entry.fields.names().into_iter();
    let names: Vec<&str> = fields.map(|name| names::field(locale, name)).collect();
    match entry.action {
        Action::Changed if names.is_empty() => format!("{}.", locale.say(NO_FIELDS)),
        Action::Changed => format!(
            "{} {}.",
            locale.text("Alterado:", "Changed"),
            enumeration(locale, &names)
        ),
        done => format!("{}.", locale.say(done.words())),
    }
}

/// The old and new values of the changed fields, where they are stored: `Quantity: 5 → 9`.
fn values(entry: &Entry, locale: Locale) -> Vec<String> {
    let changes = entry.fields.0.iter();
    let changes = changes.filter(|change| change.values.is_some());
    changes.map(|change| in_words(change, locale)).collect()
}

/// A changed field with its old and new value, where they are stored.
pub(crate) fn in_words(change: &FieldChange, locale: Locale) -> String {
    let name = names::field(locale, &change.field);
    let Some((before, after)) = &change.values else {
        return name.to_owned();
    };
    let field = names::described(&change.field);
    let value = |stored: &str| match field {
        _ if stored.is_empty() => "–".to_owned(),
        Some(field) => shown(field, stored, locale),
        None => stored.to_owned(),
    };
    format!("{name}: {} → {}", value(before), value(after))
}

/// A stored value, formatted for the user.
fn shown(field: &Field, stored: &str, locale: Locale) -> String {
    let value = match field.kind {
        Kind::Integer { .. } => stored.parse().ok().map(Value::Integer),
        Kind::Price | Kind::Decimal => Money::parse(stored).ok().map(Value::Money),
        _ => None,
    };
    match (field.kind, value) {
        (_, Some(value)) => field.shown(value, locale),
        (Kind::Truth, None) if stored == "1" => locale.text("Sim", "Yes").to_owned(),
        (Kind::Truth, None) => locale.text("Não", "No").to_owned(),
        _ => stored.to_owned(),
    }
}

fn enumeration(locale: Locale, texts: &[&str]) -> String {
    match texts {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => {
            format!("{} {} {last}", first.join(", "), locale.text("e", "and"))
        }
    }
}

#[cfg(test)]
mod tests {
    use db::Timestamp;

    use super::*;
    use crate::audit::FieldChanges;

    fn changed(fields: &[&str]) -> Entry {
        Entry {
            id: 1,
            user: None,
            action: Action::Changed,
            model: "product".to_owned(),
            object_id: Some(1),
            object: "Arroz".to_owned(),
            fields: FieldChanges(fields.iter().map(|name| FieldChange::named(name)).collect()),
            created_at: Timestamp::from_micros(0),
        }
    }

    #[test]
    fn a_change_names_its_fields_in_the_readers_language() {
        let entry = changed(&["title", "quantity"]);
        assert_eq!(sentence(&entry, Locale::En), "Changed Title and Quantity.");
        assert_eq!(
            sentence(&entry, Locale::PtBr),
            "Alterado: Título e Quantidade."
        );
        assert_eq!(phrase(&entry, Locale::PtBr), "Alterado: título, quantidade");
        assert_eq!(sentence(&changed(&[]), Locale::En), "No fields changed.");
        let told = phrase(&changed(&[]), Locale::PtBr);
        assert_eq!(told, "Nenhum campo alterado");
    }

    #[test]
    fn what_a_field_was_and_became_is_told_in_the_readers_language() {
        let entry = Entry {
            fields: FieldChanges(vec![
                FieldChange::of("title", Value::Text("Arroz"), Value::Text("Café")),
                FieldChange::of(
                    "selling_price",
                    Value::Money(Money::parse("9.50").unwrap()),
                    Value::Money(Money::parse("1234.00").unwrap()),
                ),
                FieldChange::of("threshold", Value::Null, Value::Integer(1500)),
                FieldChange::of("active", Value::Truth(true), Value::Truth(false)),
                FieldChange::named("password"),
            ]),
            ..changed(&[])
        };
        assert_eq!(
            values(&entry, Locale::PtBr),
            [
                "Título: Arroz → Café",
                "Preço de venda: R$\u{a0}9,50 → R$\u{a0}1.234,00",
                "Estoque mínimo: – → 1.500",
                "Ativo: Sim → Não",
            ]
        );
    }
}
