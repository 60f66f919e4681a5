//! The messages of the administration after an action, in the wording of Django's administration.

use resource::capitalized;
use web::locale::Locale;

use super::{
    about::{Both, ModelDescription},
    registry,
};
use crate::{access::Permission, page::flash, payments, rest::Refusal};

/// The page to show after a form is saved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NextPage {
    List,
    Record,
    /// The form of a new record.
    Another,
}

/// The message when all selected records are deleted already.
pub(super) fn gone(locale: Locale, about: &ModelDescription) -> String {
    let words = &about.words;
    let (this, many) = (words.ending("Os", "As"), words.many(locale));
    let ending = words.ending("os", "as");
    match locale {
        Locale::PtBr => {
            format!(
                "{this} {many} selecionad{ending} não existem mais. Talvez tenham sido excluíd{ending}."
            )
        }
        Locale::En => {
            format!("The selected {many} don’t exist any more. Perhaps they were deleted?")
        }
    }
}

/// `The product “X” was added successfully.`, followed by a hint for the next page. The Portuguese
/// verb has no ending.
pub(super) fn done(
    locale: Locale,
    about: &ModelDescription,
    text: &str,
    (portuguese, english): Both,
    follows: NextPage,
) -> String {
    let words = &about.words;
    let (name, text) = (words.one(locale), flash::named(text));
    let sentence = match locale {
        Locale::En => format!("The {name} “{text}” was {english} successfully."),
        Locale::PtBr => {
            let ending = words.ending("o", "a");
            let article = words.ending("O", "A");
            format!("{article} {name} “{text}” foi {portuguese}{ending} com sucesso.")
        }
    };
    let next = match (locale, follows) {
        (_, NextPage::List) => return sentence,
        (Locale::En, NextPage::Record) => "You may edit it again below.".to_owned(),
        (Locale::En, NextPage::Another) => format!("You may add another {name} below."),
        (Locale::PtBr, NextPage::Record) => format!(
            "Você pode alterá-l{} outra vez abaixo.",
            words.ending("o", "a")
        ),
        (Locale::PtBr, NextPage::Another) => format!(
            "Você pode adicionar {} {name} abaixo.",
            words.ending("outro", "outra")
        ),
    };
    format!("{sentence} {next}")
}

/// `Successfully deleted 3 products.`
pub(super) fn deleted(locale: Locale, about: &ModelDescription, count: u64) -> String {
    let name = about.words.of(locale, count);
    let number = locale.number(count);
    match locale {
        Locale::En => format!("Successfully deleted {number} {name}."),
        Locale::PtBr => {
            let plural = if count == 1 { "" } else { "s" };
            let ending = about.words.ending("o", "a");
            format!("{number} {name} excluíd{ending}{plural} com sucesso.")
        }
    }
}

/// `3 products were changed successfully.`
pub(super) fn changed(locale: Locale, about: &ModelDescription, count: u64) -> String {
    let name = about.words.of(locale, count);
    let number = locale.number(count);
    let (was, plural) = match (locale, count) {
        (Locale::En, 1) => ("was", ""),
        (Locale::En, _) => ("were", ""),
        (Locale::PtBr, 1) => ("foi", ""),
        (Locale::PtBr, _) => ("foram", "s"),
    };
    let ending = about.words.ending("o", "a");
    match locale {
        Locale::En => format!("{number} {name} {was} changed successfully."),
        Locale::PtBr => format!("{number} {name} {was} alterad{ending}{plural} com sucesso."),
    }
}

/// The name of a permission: `Catalogue | Brand | Can add brand`.
pub(super) fn permission(locale: Locale, permission: Permission) -> String {
    let about = registry::described(permission.model);
    let name = permission.model.words().one(locale);
    // Models without pages here belong to checkout.
    let application = about.map_or(payments::TITLE, |about| about.application.name());
    let application = locale.say(application);
    let label = permission.label(locale);
    format!("{application} | {} | {label}", capitalized(name))
}

/// The reason why a record was not changed.
pub(super) fn reason(locale: Locale, refusal: &Refusal) -> String {
    let text = match refusal {
        Refusal::Conflict(message) => message.text(locale),
        _ => locale.text(
            "Um dos registros não pôde ser alterado.",
            "One of the records could not be changed.",
        ),
    };
    text.to_owned()
}
