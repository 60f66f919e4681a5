//! The texts of the page's script in the visitor's language. Static texts are in the templates.

use serde_json::{Map, Value};
use web::locale::Locale;

use super::reasons;

/// Name, Portuguese, English. The script replaces `{…}`.
const TEXTS: &[(&str, &str, &str)] = &[
    ("pay", "Pagar", "Pay"),
    ("pay_amount", "Pagar {amount}", "Pay {amount}"),
    ("pay_pix", "Gerar Pix", "Get the Pix code"),
    (
        "pay_pix_amount",
        "Gerar Pix de {amount}",
        "Get the Pix code for {amount}",
    ),
    ("pay_boleto", "Gerar boleto", "Get the boleto"),
    (
        "pay_boleto_amount",
        "Gerar boleto de {amount}",
        "Get the boleto for {amount}",
    ),
    ("installments_one", "À vista", "One payment"),
    (
        "installments_many",
        "{count}x de {amount}",
        "{count} × {amount}",
    ),
    ("installments_count", "{count}x", "{count} installments"),
    (
        "security_code_back",
        "Os 3 dígitos do verso",
        "The 3 digits on the back",
    ),
    (
        "security_code_front",
        "Os 4 dígitos da frente",
        "The 4 digits on the front",
    ),
    // Problems, above and beside the fields.
    ("problems_one", "Confira um campo", "Check one field"),
    (
        "problems_many",
        "Confira {count} campos",
        "Check {count} fields",
    ),
    (
        "too_long",
        "Use no máximo {most} caracteres.",
        "Use at most {most} characters.",
    ),
    (
        "holds_card_number",
        "O número do cartão não vai aqui.",
        "The card number does not belong here.",
    ),
    (
        "transaction_amount_missing",
        "Digite o valor.",
        "Enter the amount.",
    ),
    (
        "amount_invalid",
        "Digite o valor em reais, como 19,90.",
        "Enter the amount in reais, like 19.90.",
    ),
    (
        "amount_zero",
        "O valor deve ser maior que zero.",
        "The amount must be more than zero.",
    ),
    (
        "transaction_amount_refused",
        "Este valor não foi aceito.",
        "This amount was not accepted.",
    ),
    (
        "description_missing",
        "Informe o que você está pagando.",
        "Enter what you are paying for.",
    ),
    (
        "description_refused",
        "Esta descrição não foi aceita.",
        "This description was not accepted.",
    ),
    (
        "card_number_missing",
        "Digite o número do cartão.",
        "Enter the card number.",
    ),
    (
        "card_number_short",
        "Faltam dígitos no número do cartão.",
        "The card number is too short.",
    ),
    (
        "card_number_invalid",
        "O número do cartão não confere. Verifique os dígitos.",
        "The card number is not right. Check the digits.",
    ),
    (
        "card_number_refused",
        "O número do cartão não foi aceito. Verifique os dígitos.",
        "The card number was not accepted. Check the digits.",
    ),
    (
        "card_number_network",
        "Esta bandeira não é aceita. Aceitamos Visa, Mastercard, Elo, American Express, Hipercard e Diners.",
        "This network is not accepted. We take Visa, Mastercard, Elo, American Express, Hipercard and Diners.",
    ),
    (
        "expiry_missing",
        "Digite a validade do cartão.",
        "Enter the card's expiry date.",
    ),
    (
        "expiry_invalid",
        "Digite a validade como 08/29.",
        "Enter the expiry date like 08/29.",
    ),
    (
        "expiry_past",
        "Este cartão já venceu.",
        "This card has expired.",
    ),
    (
        "expiry_far",
        "Confira o ano da validade.",
        "Check the year of the expiry date.",
    ),
    (
        "expiration_month_missing",
        "Digite a validade do cartão.",
        "Enter the card's expiry date.",
    ),
    (
        "expiration_year_missing",
        "Digite a validade do cartão.",
        "Enter the card's expiry date.",
    ),
    (
        "expiration_month_refused",
        "A validade não foi aceita.",
        "The expiry date was not accepted.",
    ),
    (
        "expiration_year_refused",
        "A validade não foi aceita.",
        "The expiry date was not accepted.",
    ),
    (
        "security_code_missing",
        "Digite o código de segurança.",
        "Enter the security code.",
    ),
    (
        "security_code_three",
        "O código tem 3 dígitos, no verso do cartão.",
        "The code has 3 digits, on the back of the card.",
    ),
    (
        "security_code_four",
        "O código tem 4 dígitos, na frente do cartão.",
        "The code has 4 digits, on the front of the card.",
    ),
    (
        "security_code_refused",
        "O código de segurança não foi aceito.",
        "The security code was not accepted.",
    ),
    (
        "cardholder_name_missing",
        "Digite o nome como está no cartão.",
        "Enter the name as on the card.",
    ),
    (
        "cardholder_name_refused",
        "Este nome não foi aceito.",
        "This name was not accepted.",
    ),
    (
        "installments_missing",
        "Escolha o número de parcelas.",
        "Choose the number of installments.",
    ),
    (
        "installments_refused",
        "Este número de parcelas não foi aceito.",
        "This number of installments was not accepted.",
    ),
    (
        "email_missing",
        "Digite seu e-mail.",
        "Enter your e-mail address.",
    ),
    (
        "email_invalid",
        "Digite um e-mail como nome@exemplo.com.br.",
        "Enter an e-mail address like name@example.com.",
    ),
    (
        "email_refused",
        "Este e-mail não foi aceito.",
        "This e-mail address was not accepted.",
    ),
    (
        "identification_number_missing",
        "Digite o CPF ou CNPJ de quem paga.",
        "Enter the payer's CPF or CNPJ.",
    ),
    (
        "tax_id_invalid",
        "Este CPF ou CNPJ não confere. Verifique os dígitos.",
        "This CPF or CNPJ is not right. Check the digits.",
    ),
    (
        "identification_number_refused",
        "Este CPF ou CNPJ não foi aceito.",
        "This CPF or CNPJ was not accepted.",
    ),
    (
        "first_name_missing",
        "Digite o nome de quem paga.",
        "Enter the payer's first name.",
    ),
    (
        "first_name_refused",
        "Este nome não foi aceito.",
        "This name was not accepted.",
    ),
    (
        "last_name_missing",
        "Digite o sobrenome de quem paga.",
        "Enter the payer's last name.",
    ),
    (
        "last_name_refused",
        "Este sobrenome não foi aceito.",
        "This last name was not accepted.",
    ),
    (
        "zip_code_missing",
        "Digite o CEP.",
        "Enter the postal code (CEP).",
    ),
    (
        "postal_code_invalid",
        "O CEP tem 8 dígitos, como 01310-100.",
        "A CEP has 8 digits, like 01310-100.",
    ),
    (
        "zip_code_refused",
        "Este CEP não foi aceito.",
        "This CEP was not accepted.",
    ),
    ("street_name_missing", "Digite a rua.", "Enter the street."),
    (
        "street_name_refused",
        "Esta rua não foi aceita.",
        "This street was not accepted.",
    ),
    (
        "street_number_missing",
        "Digite o número ou, se não houver, S/N.",
        "Enter the number, or S/N if there is none.",
    ),
    (
        "street_number_refused",
        "Este número não foi aceito.",
        "This number was not accepted.",
    ),
    (
        "neighborhood_missing",
        "Digite o bairro.",
        "Enter the neighbourhood.",
    ),
    (
        "neighborhood_refused",
        "Este bairro não foi aceito.",
        "This neighbourhood was not accepted.",
    ),
    ("city_missing", "Digite a cidade.", "Enter the city."),
    (
        "city_refused",
        "Esta cidade não foi aceita.",
        "This city was not accepted.",
    ),
    (
        "federal_unit_missing",
        "Escolha o estado.",
        "Choose the state.",
    ),
    (
        "federal_unit_refused",
        "Este estado não foi aceito.",
        "This state was not accepted.",
    ),
    // Outcomes of the request.
    (
        "retry_in",
        "Não houve resposta. Nova tentativa em {seconds} s ({attempt} de {most}).",
        "There was no answer. Trying again in {seconds} s ({attempt} of {most}).",
    ),
    (
        "retry_busy",
        "Há muitos pagamentos neste momento. Nova tentativa em {seconds} s ({attempt} de {most}).",
        "There are many payments right now. Trying again in {seconds} s ({attempt} of {most}).",
    ),
    (
        "retry_now",
        "Tentando de novo ({attempt} de {most})…",
        "Trying again ({attempt} of {most})…",
    ),
    ("stopped", "Parado a seu pedido.", "Stopped as you asked."),
    (
        "unreachable",
        "O provedor de pagamento não está respondendo.",
        "The payment provider is not answering.",
    ),
    (
        "nothing_charged",
        "Nada foi cobrado e seus dados continuam aqui. Tente de novo quando quiser.",
        "Nothing was charged and your details are still here. Try again when you like.",
    ),
    (
        "busy",
        "Há muitos pagamentos neste momento.",
        "There are many payments right now.",
    ),
    (
        "busy_until",
        "Nada foi cobrado. Tente de novo em {wait}.",
        "Nothing was charged. Try again in {wait}.",
    ),
    (
        "paused",
        "Muitas tentativas de pagamento.",
        "Too many payment attempts.",
    ),
    (
        "paused_until",
        "Nada foi cobrado. Por segurança, espere {wait} antes de tentar de novo ou escolha outra forma de pagamento.",
        "Nothing was charged. For security, wait {wait} before you try again, or choose another payment method.",
    ),
    (
        "not_paid",
        "O pagamento anterior não foi feito.",
        "The previous payment was not made.",
    ),
    (
        "not_paid_text",
        "Nada foi cobrado. Preencha os dados e tente de novo.",
        "Nothing was charged. Enter your details and try again.",
    ),
    (
        "provider_refused",
        "O provedor de pagamento não aceitou os dados.",
        "The payment provider did not accept the details.",
    ),
    (
        "provider_refused_text",
        "Nada foi cobrado. Confira os dados ou escolha outra forma de pagamento.",
        "Nothing was charged. Check the details or choose another payment method.",
    ),
    (
        "refused",
        "O pagamento não pôde ser enviado.",
        "The payment could not be sent.",
    ),
    (
        "refused_text",
        "Nada foi cobrado. Confira os dados e tente de novo.",
        "Nothing was charged. Check the details and try again.",
    ),
    (
        "amount_refused",
        "Este valor não pode mais ser pago aqui.",
        "This amount can no longer be paid here.",
    ),
    (
        "amount_refused_text",
        "Nada foi cobrado. Peça outro link à loja.",
        "Nothing was charged. Ask the shop for another link.",
    ),
    // Labels of a receipt.
    ("method_card", "Cartão", "Card"),
    (
        "method_card_ending",
        "{network}, final {last}",
        "{network} ending in {last}",
    ),
    ("method_pix", "Pix", "Pix"),
    ("method_boleto", "Boleto", "Boleto"),
    ("times", "{count}x", "{count} installments"),
    (
        "pix_just_expired",
        "O prazo deste Pix acabou",
        "This Pix payment has expired",
    ),
];

/// The texts as one JSON object, with the names of the networks and the reasons of refusals.
pub(super) fn for_script(locale: Locale) -> Value {
    let texts = TEXTS.iter().map(|(name, portuguese, english)| {
        (
            (*name).to_owned(),
            Value::from(locale.text(portuguese, english)),
        )
    });
    let networks = brazil::NETWORKS.iter().map(|rules| {
        (
            format!("network_{}", rules.network.id()),
            Value::from(rules.name),
        )
    });
    let reasons = [("reasons".to_owned(), reasons::for_script(locale))];
    Value::Object(texts.chain(networks).chain(reasons).collect::<Map<_, _>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::{COMMON_FIELDS, MethodKind};

    #[test]
    fn every_text_has_its_placeholders_in_both_languages() {
        for (name, portuguese, english) in TEXTS {
            let places = |text: &str| {
                let mut places: Vec<_> = text
                    .split('{')
                    .skip(1)
                    .filter_map(|rest| rest.split('}').next())
                    .map(str::to_owned)
                    .collect();
                places.sort();
                places
            };
            assert_eq!(places(portuguese), places(english), "{name}");
        }
    }

    #[test]
    fn no_text_stands_twice() {
        let mut names: Vec<_> = TEXTS.iter().map(|(name, _, _)| name).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), TEXTS.len());
    }

    #[test]
    fn every_field_of_a_request_has_a_text_for_its_absence_and_its_refusal() {
        let texts = for_script(Locale::PtBr);
        let of_methods = MethodKind::ALL.into_iter().flat_map(MethodKind::fields);
        for field in COMMON_FIELDS.iter().chain(of_methods) {
            for kind in ["missing", "refused"] {
                assert!(
                    texts.get(format!("{field}_{kind}")).is_some(),
                    "{field}_{kind}"
                );
            }
        }
    }
}
