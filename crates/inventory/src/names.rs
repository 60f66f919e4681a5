//! What people call a field, on pages, in files and in the audit log. A described field is called as its description says; what is not
//! described yet stands in a table.

use resource::{Both, Field, Record as _, in_a_sentence};
use web::locale::Locale;

use crate::{
    accounts::users::{
        User,
        manage::{Group, OpenSession},
    },
    analysis::AnalysisSummary,
    catalogue::{named::NamedRecord, products::ProductRecord},
    events::Delivery,
    stock::{LedgerEntry, OwnThreshold, movements::MovementRecord},
};

/// Fields without a description.
const OTHERS: &[(&str, Both)] = &[
    ("action", ("Ação", "Action")),
    ("amount", ("Valor", "Amount")),
    ("archived", ("Arquivado", "Archived")),
    ("attempt", ("Tentativa", "Attempt")),
    ("booked_by_hand", ("Baixa feita à mão", "Booked by hand")),
    ("code", ("Código", "Code")),
    ("deliveries", ("Entregas", "Deliveries")),
    ("enabled", ("Ativo", "Enabled")),
    ("expires_on", ("Válido até", "Valid until")),
    ("fields", ("Campos", "Fields")),
    ("file", ("Arquivo", "File")),
    ("inflows", ("Entradas", "Inflows")),
    ("invoice", ("Nota fiscal", "Invoice number")),
    ("language_model", ("Modelo de linguagem", "Language model")),
    (
        "lead_time_days",
        ("Prazo de entrega, em dias", "Lead time, in days"),
    ),
    (
        "lead_time_deviation_days",
        (
            "Variação do prazo, em dias",
            "Lead time variability, in days",
        ),
    ),
    ("model", ("Registro de", "Model")),
    ("new_password", ("Senha nova", "New password")),
    (
        "new_password_again",
        ("Repita a senha nova", "Repeat the new password"),
    ),
    ("object", ("Objeto", "Object")),
    ("off_code", ("Código", "Code")),
    ("off_password", ("Sua senha", "Your password")),
    ("old_password", ("Senha atual", "Current password")),
    ("outcome", ("Resultado do modelo", "Model outcome")),
    (
        "pack_multiple",
        (
            "Unidades por embalagem de compra",
            "Units per purchase pack",
        ),
    ),
    ("password", ("Senha", "Password")),
    ("password1", ("Senha", "Password")),
    (
        "password2",
        ("Confirmação da senha", "Password confirmation"),
    ),
    ("payload", ("Conteúdo", "Content")),
    (
        "quantity_broken",
        (
            "Quantidade (quebra ou avaria)",
            "Quantity (broken or damaged)",
        ),
    ),
    (
        "quantity_counted",
        ("Quantidade (contagem)", "Quantity (count)"),
    ),
    (
        "quantity_found",
        ("Quantidade (encontrado)", "Quantity (found)"),
    ),
    (
        "quantity_lost",
        ("Quantidade (perda ou furto)", "Quantity (lost or stolen)"),
    ),
    (
        "quantity_other",
        ("Quantidade (outro motivo)", "Quantity (other reason)"),
    ),
    ("renew", ("Renovar o segredo", "Renew the secret")),
    ("resource", ("Conteúdo", "Contents")),
    (
        "review_interval_days",
        ("Intervalo entre revisões, em dias", "Days between reviews"),
    ),
    ("revoked", ("Revogado", "Revoked")),
    ("search", ("Nome ou código", "Name or code")),
    ("secret", ("Segredo", "Secret")),
    (
        "service_level",
        ("Nível de serviço, em %", "Service level, in %"),
    ),
    ("sessions", ("Sessões", "Sessions")),
    ("types", ("Eventos", "Events")),
    ("url", ("Endereço", "Address")),
];

/// The description of a field; none of one that has none.
pub(crate) fn described(name: &str) -> Option<&'static Field> {
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
    ];
    let mut fields = described.into_iter().flatten().copied();
    fields.find(|field| field.name == name)
}

/// What people call a field; its own name when nobody knows another.
pub(crate) fn field(locale: Locale, name: &str) -> &str {
    let other = || OTHERS.iter().find(|(known, _)| *known == name);
    let label = described(name).map(|field| field.label);
    match label.or_else(|| other().map(|(_, label)| *label)) {
        Some((portuguese, english)) => locale.text(portuguese, english),
        None => name,
    }
}

/// The same within a sentence: `número de série`.
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
        assert!(OTHERS.is_sorted_by(|(left, _), (right, _)| left < right));
    }
}
