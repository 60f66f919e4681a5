//! The labels of fields for pages, files and the audit log, taken from the fields' descriptions.

use resource::{Field, Record as _, in_a_sentence};
use web::locale::Locale;

use crate::{
    accounts::{
        self,
        users::{
            User,
            manage::{Group, OpenSession, PASSWORD, REPEATED_PASSWORD, REVOKED},
        },
    },
    analysis::{self, AnalysisSummary, RestockTerms},
    audit::Entry,
    catalogue::{named::NamedRecord, products::ProductRecord},
    events::{Delivery, Endpoint, labels},
    stock::{
        LedgerEntry, OwnThreshold, Reason,
        archive::IS_ARCHIVED,
        movements::{INFLOWS, MovementRecord},
        orders::BY_HAND,
        receiving::model::INVOICE,
    },
};

pub(crate) fn described(name: &str) -> Option<&'static Field> {
    let reasons = Reason::ALL.map(Reason::field);
    let described = [
        NamedRecord::FIELDS,
        ProductRecord::FIELDS,
        MovementRecord::FIELDS,
        OwnThreshold::FIELDS,
        LedgerEntry::FIELDS,
        User::FIELDS,
        Group::FIELDS,
        OpenSession::FIELDS,
        Delivery::FIELDS,
        AnalysisSummary::FIELDS,
        &[IS_ARCHIVED, BY_HAND, INFLOWS, INVOICE],
        &reasons,
        &[PASSWORD, REPEATED_PASSWORD, REVOKED],
        &accounts::OTHERS,
        RestockTerms::FIELDS,
        &analysis::FIELDS,
        Endpoint::FIELDS,
        &labels::OTHERS,
        Entry::FIELDS,
    ];
    let mut fields = described.into_iter().flatten().copied();
    fields.find(|field| field.name == name)
}

/// The label of a field. A field without a description keeps its name.
pub(crate) fn field(locale: Locale, name: &str) -> &str {
    described(name).map_or(name, |field| locale.say(field.label))
}

/// The label for use within a sentence: `número de série`.
pub(crate) fn field_in_a_sentence(locale: Locale, name: &str) -> String {
    in_a_sentence(field(locale, name)).replace('_', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_has_one_name_in_each_language() {
        assert_eq!(field(Locale::PtBr, "serie_number"), "Número de série");
        assert_eq!(
            field_in_a_sentence(Locale::PtBr, "serie_number"),
            "número de série"
        );
        assert_eq!(field_in_a_sentence(Locale::En, "id"), "ID");
        assert_eq!(field_in_a_sentence(Locale::En, "gone_since"), "gone since");
    }
}
