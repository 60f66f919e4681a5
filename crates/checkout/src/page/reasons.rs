//! Why a payment was refused, in words for the buyer. The provider's `status_detail` selects
//! the text.
//!
//! Follows the provider's guide to handling responses. A suspicion of fraud is never mentioned,
//! because the buyer may be standing in the shop.

use serde_json::{Map, Value, json};
use web::locale::Locale;

type Words = (&'static str, &'static str);

/// What happened and what to do, each in Portuguese and English, and the field to correct first.
struct Reason {
    details: &'static [&'static str],
    text: Words,
    todo: Words,
    field: &'static str,
}

const OTHER_CARD: Words = (
    "Use outro cartão ou escolha outra forma de pagamento.",
    "Use another card or choose another payment method.",
);

const REASONS: &[Reason] = &[
    Reason {
        details: &["cc_rejected_bad_filled_card_number"],
        text: (
            "O número do cartão não confere.",
            "The card number is not right.",
        ),
        todo: (
            "Confira o número e tente de novo.",
            "Check the number and try again.",
        ),
        field: "card_number",
    },
    Reason {
        details: &["cc_rejected_bad_filled_date"],
        text: ("A validade não confere.", "The expiry date is not right."),
        todo: (
            "Confira o mês e o ano e tente de novo.",
            "Check the month and year and try again.",
        ),
        field: "expiry",
    },
    Reason {
        details: &["cc_rejected_bad_filled_security_code"],
        text: (
            "O código de segurança não confere.",
            "The security code is not right.",
        ),
        todo: ("Digite o código de novo.", "Type the code again."),
        field: "security_code",
    },
    Reason {
        details: &[
            "cc_rejected_bad_filled_other",
            "cc_rejected_card_error",
            "rejected_insufficient_data",
        ],
        text: (
            "Algum dado do cartão não confere.",
            "Some of the card's details are not right.",
        ),
        todo: (
            "Confira os dados e tente de novo.",
            "Check the details and try again.",
        ),
        field: "card_number",
    },
    Reason {
        details: &["cc_rejected_insufficient_amount", "insufficient_amount"],
        text: (
            "O cartão não tem saldo ou limite suficiente.",
            "The card does not have enough funds or credit limit.",
        ),
        todo: OTHER_CARD,
        field: "card_number",
    },
    Reason {
        details: &["cc_rejected_call_for_authorize"],
        text: (
            "O emissor do cartão pede a sua autorização.",
            "Your card issuer needs your authorisation.",
        ),
        todo: (
            "Autorize o pagamento pelo app ou telefone do emissor e tente de novo.",
            "Authorise the payment in the issuer's app or by phone, then try again.",
        ),
        field: "security_code",
    },
    Reason {
        details: &["cc_rejected_card_disabled"],
        text: (
            "O cartão ainda não está ativo.",
            "The card is not active yet.",
        ),
        todo: (
            "Ative-o pelo app ou telefone do emissor, ou use outro cartão.",
            "Activate it in the issuer's app or by phone, or use another card.",
        ),
        field: "card_number",
    },
    Reason {
        details: &["cc_rejected_card_type_not_allowed"],
        text: (
            "Este tipo de cartão não é aceito.",
            "This kind of card is not accepted.",
        ),
        todo: OTHER_CARD,
        field: "card_number",
    },
    Reason {
        details: &["cc_rejected_duplicated_payment"],
        text: (
            "Já existe um pagamento igual a este, feito há pouco.",
            "An identical payment was made a short while ago.",
        ),
        todo: (
            "Confira se ele já foi aprovado. Para pagar outra vez, use outro cartão ou outra forma.",
            "Check whether it was approved. To pay again, use another card or another method.",
        ),
        field: "card_number",
    },
    Reason {
        details: &["cc_rejected_invalid_installments"],
        text: (
            "O cartão não aceita este número de parcelas.",
            "The card does not take this number of installments.",
        ),
        todo: (
            "Escolha menos parcelas e tente de novo.",
            "Choose fewer installments and try again.",
        ),
        field: "installments",
    },
    Reason {
        details: &["cc_rejected_max_attempts"],
        text: (
            "O cartão chegou ao limite de tentativas.",
            "The card has reached its attempt limit.",
        ),
        todo: OTHER_CARD,
        field: "card_number",
    },
    Reason {
        details: &["cc_rejected_time_out", "bank_error"],
        text: (
            "O banco não respondeu a tempo.",
            "The bank did not answer in time.",
        ),
        todo: (
            "Tente de novo em alguns minutos ou use outro cartão.",
            "Try again in a few minutes or use another card.",
        ),
        field: "security_code",
    },
    Reason {
        details: &["cc_rejected_3ds_challenge"],
        text: (
            "A confirmação pedida pelo banco não foi concluída.",
            "The confirmation requested by the bank was not completed.",
        ),
        todo: (
            "Tente de novo ou use outro cartão.",
            "Try again or use another card.",
        ),
        field: "security_code",
    },
    Reason {
        details: &["pix", "boleto"],
        text: (
            "O pagamento não foi autorizado.",
            "The payment was not authorised.",
        ),
        todo: (
            "Tente de novo ou escolha outra forma de pagamento.",
            "Try again or choose another payment method.",
        ),
        field: "email",
    },
    Reason {
        details: &["other"],
        text: (
            "O emissor do cartão não autorizou este pagamento.",
            "Your card issuer did not authorise this payment.",
        ),
        todo: OTHER_CARD,
        field: "card_number",
    },
];

/// The table for the script, by the `status_detail` of a card payment, with `other` for unknown
/// ones, and by the method of any other payment.
pub(super) fn for_script(locale: Locale) -> Value {
    let say = |words: Words| locale.text(words.0, words.1);
    let rows = REASONS.iter().flat_map(|reason| {
        reason.details.iter().map(move |detail| {
            let row =
                json!({"text": say(reason.text), "todo": say(reason.todo), "field": reason.field});
            ((*detail).to_owned(), row)
        })
    });
    Value::Object(rows.collect::<Map<_, _>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_reason_speaks_of_fraud_or_suspicion() {
        for locale in [Locale::PtBr, Locale::En] {
            let texts = for_script(locale).to_string().to_lowercase();
            for word in ["fraud", "suspe", "risco", "risk", "lista", "blacklist"] {
                assert!(!texts.contains(word), "{word}");
            }
        }
    }

    #[test]
    fn a_reason_that_hints_at_suspicion_reads_like_any_other_refusal() {
        let reasons = for_script(Locale::PtBr);
        for detail in [
            "cc_rejected_high_risk",
            "cc_rejected_blacklist",
            "cc_rejected_other_reason",
        ] {
            assert!(
                reasons.get(detail).is_none(),
                "{detail} must fall to `other`"
            );
        }
        assert!(reasons.get("other").is_some());
    }
}
