//! What a form showed when it was opened travels with it, in hidden fields, so that nobody overwrites without knowing what somebody else
//! has changed meanwhile. A field that was left as it was shown is not written. One that both have changed is told beside the field, and
//! nothing is written until the form is sent once more. The cells of lists are compared in the same way. A form without the hidden
//! fields is written as it is.

use resource::{Field, Value};
use web::locale::Locale;

use super::{Form, numbers};
use crate::{
    digest::digest,
    rest::{Message, fields::FieldErrors},
};

/// A longer value, in bytes, comes back as its digest: long texts need not travel twice.
const LONG: usize = 300;
/// As much of somebody else's value is told, in characters.
const TOLD: usize = 120;

/// How the names of the fields begin that bring back what a form showed.
pub(crate) const WAS: &str = "was:";

/// Under which name a form brings back what it showed of a field at first.
pub(crate) fn was(name: &str) -> String {
    format!("{WAS}{name}")
}

/// A value as a form brings it back: as browsers send texts, and not longer than it must be.
pub(crate) fn brought(value: &str) -> String {
    let value = value.trim().replace("\r\n", "\n").replace('\r', "\n");
    if value.len() > LONG {
        format!("sha256:{}", digest(&value))
    } else {
        value
    }
}

/// A text as a control of one line holds it.
pub(crate) fn one_line(text: &str) -> String {
    text.replace("\r\n", " ").replace(['\r', '\n'], " ")
}

/// Where somebody has written what was changed meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// The form of one record.
    Form,
    /// A list.
    List,
}

/// A field as it was shown, and as it was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Compared {
    /// The field.
    pub(crate) field: &'static str,
    was: String,
    typed: String,
}

impl Compared {
    /// What was shown and what was sent of a field.
    pub(crate) fn new(field: &'static str, was: &str, typed: &str) -> Self {
        Self {
            field,
            was: brought(was),
            typed: brought(typed),
        }
    }

    /// Whether it was left as it was shown.
    pub(crate) fn is_left(&self) -> bool {
        self.was == self.typed
    }

    /// Whether writing it would overwrite what somebody else has made of it. The same value twice is no conflict.
    pub(crate) fn overwrites(&self, now: &str) -> bool {
        let now = brought(now);
        !self.is_left() && self.was != now && self.typed != now
    }
}

/// A field of a record as it stands now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Standing {
    /// The field.
    pub(crate) field: &'static str,
    /// What is compared: the same in every language.
    pub(crate) value: String,
    /// What its control holds.
    pub(crate) typed: String,
    /// What people read.
    pub(crate) told: String,
}

impl Standing {
    /// A described field.
    pub(crate) fn of(field: &'static Field, value: Value<'_>, locale: Locale) -> Self {
        let typed = value.typed();
        match value {
            Value::Money(number) => Self {
                typed: numbers::amount_text(number, locale),
                told: field.shown(value, locale),
                ..Self::plain(field.name, typed)
            },
            Value::Integer(_) | Value::Reference { .. } => Self {
                told: field.shown(value, locale),
                ..Self::plain(field.name, typed)
            },
            _ if field.is_long() => Self::plain(field.name, typed),
            _ => Self::plain(field.name, one_line(&typed)),
        }
    }

    /// A field whose control holds what is compared and read.
    pub(crate) fn plain(field: &'static str, value: impl Into<String>) -> Self {
        let value = value.into();
        Self {
            field,
            typed: value.clone(),
            told: value.clone(),
            value,
        }
    }
}

/// What a form showed when it was opened, beside what was sent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Opened(Vec<Compared>);

impl Opened {
    /// What a form brings back of these fields, each with what was sent as it is compared.
    pub(crate) fn of(form: &Form, sent: impl IntoIterator<Item = (&'static str, String)>) -> Self {
        let compared = sent.into_iter().filter_map(|(field, typed)| {
            let was = form.brings(&was(field))?;
            Some(Compared::new(field, was, &typed))
        });
        Self(compared.collect())
    }

    /// The fields that were left as they were shown.
    pub(crate) fn left(&self) -> impl Iterator<Item = &'static str> {
        let left = self.0.iter().filter(|compared| compared.is_left());
        left.map(|compared| compared.field)
    }

    /// What somebody else has changed since, and the form too.
    pub(crate) fn meanwhile(&self, now: &[Standing], locale: Locale) -> FieldErrors {
        let mut errors = FieldErrors::default();
        for standing in now.iter().filter(|standing| self.overwrites(standing)) {
            let told = told(locale, Place::Form, &standing.told);
            errors.add(standing.field, Message::translated(told));
        }
        errors
    }

    /// Prepares a form to be shown again: what was left is shown as it stands now, what was changed twice is told, and all is compared
    /// with this from now on, so that whoever sends the form once more means it.
    pub(crate) fn renew(&self, form: &mut Form, now: &[Standing], locale: Locale) {
        for standing in now {
            let Some(compared) = self.find(standing.field) else {
                continue;
            };
            if compared.is_left() {
                form.set(standing.field, standing.typed.as_str());
            } else if compared.overwrites(&standing.value) {
                form.complain(standing.field, told(locale, Place::Form, &standing.told));
            }
            form.set(&was(standing.field), brought(&standing.value));
        }
    }

    fn find(&self, field: &str) -> Option<&Compared> {
        self.0.iter().find(|compared| compared.field == field)
    }

    fn overwrites(&self, standing: &Standing) -> bool {
        self.find(standing.field)
            .is_some_and(|compared| compared.overwrites(&standing.value))
    }
}

/// Shows a record in a form that is opened, and what is brought back of it.
pub(crate) fn open(form: &mut Form, now: &[Standing]) {
    for standing in now {
        form.set(standing.field, standing.typed.as_str());
        form.set(&was(standing.field), brought(&standing.value));
    }
}

/// Somebody has changed a field to this while the form or the list was open.
pub(crate) fn told(locale: Locale, place: Place, now: &str) -> String {
    let now: String = now.trim().chars().take(TOLD).collect();
    let (begin, end) = match locale {
        Locale::PtBr if now.is_empty() => ("Alguém apagou este valor", String::new()),
        Locale::PtBr => ("Alguém mudou este valor", format!(" para “{now}”")),
        Locale::En if now.is_empty() => ("Somebody cleared this", String::new()),
        Locale::En => ("Somebody changed this", format!(" to “{now}”")),
    };
    let rest = match place {
        Place::List => locale.text(
            "enquanto a lista estava aberta. Salve de novo para ficar com o seu.",
            "while the list was open. Save again to keep yours.",
        ),
        Place::Form => locale.text(
            "enquanto o formulário estava aberto. Salve de novo para ficar com o seu.",
            "while the form was open. Save again to keep yours.",
        ),
    };
    format!("{begin}{end} {rest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(form: &Form) -> Opened {
        let fields = ["title", "price"].map(|field| (field, form.value(field).to_owned()));
        Opened::of(form, fields)
    }

    fn standing() -> Vec<Standing> {
        let price = Standing {
            typed: "9,50".to_owned(),
            told: "R$ 9,50".to_owned(),
            ..Standing::plain("price", "9.50")
        };
        vec![Standing::plain("title", "Café"), price]
    }

    #[test]
    fn what_was_left_is_not_written_and_shown_again_as_it_stands() {
        let mut form = Form::new().with("title", "Chá").with("was:title", "Chá ");
        let opened = sent(&form);
        assert_eq!(opened.left().collect::<Vec<_>>(), ["title"]);
        assert!(opened.meanwhile(&standing(), Locale::En).is_empty());
        opened.renew(&mut form, &standing(), Locale::En);
        assert_eq!(
            (form.value("title"), form.value("was:title")),
            ("Café", "Café")
        );
        assert!(!form.is_refused());
    }

    #[test]
    fn what_both_have_changed_is_told_once_and_then_meant() {
        let mut form = Form::new().with("price", "8.00").with("was:price", "1.00");
        let opened = sent(&form);
        let errors = opened.meanwhile(&standing(), Locale::PtBr);
        assert_eq!(
            errors,
            FieldErrors::of(
                "price",
                Message::translated("Alguém mudou este valor para “R$ 9,50” enquanto o formulário estava aberto. Salve de novo para ficar com o seu.".to_owned())
            )
        );
        opened.renew(&mut form, &standing(), Locale::PtBr);
        assert_eq!(
            (form.value("price"), form.value("was:price")),
            ("8.00", "9.50")
        );
        assert!(sent(&form).meanwhile(&standing(), Locale::PtBr).is_empty());
    }

    #[test]
    fn the_same_change_twice_and_a_form_that_brings_nothing_back_are_no_conflicts() {
        for form in [
            Form::new().with("price", "9.50").with("was:price", "1.00"),
            Form::new().with("price", "8.00"),
        ] {
            assert!(sent(&form).meanwhile(&standing(), Locale::En).is_empty());
        }
        let brought_nothing = Form::new().with("price", "9.50");
        assert_eq!(sent(&brought_nothing).left().count(), 0);
    }

    #[test]
    fn a_long_text_comes_back_as_its_digest_however_its_lines_end() {
        let text = "linha\n".repeat(200);
        let compared = Compared::new("title", &brought(&text), &text.replace('\n', "\r\n"));
        assert!(compared.is_left() && brought(&text).len() < LONG);
        assert!(!Compared::new("title", &brought(&text), &text[1..]).is_left());
        assert_eq!(brought("a\r\nb\rc\n"), "a\nb\nc");
    }
}
