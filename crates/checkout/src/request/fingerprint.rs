//! A keyed digest of a whole request. It reveals whether two requests are the same, and nothing
//! else.

use data_encoding::HEXLOWER;

use super::{Card, Method, PaymentRequest};
use crate::secret::Secret;

impl PaymentRequest {
    /// HMAC-SHA256 of every field, card data included, as 64 hexadecimal digits. There are too few
    /// card numbers for a plain digest to hide one. With a keyed digest, nobody without the key can
    /// try them out.
    pub fn fingerprint(&self, key: &[u8; 32]) -> String {
        let (month, year, installments);
        let amount = self.amount.to_string();
        let mut fields = vec![
            self.method.kind().name(),
            &amount,
            &self.description,
            &self.email,
            self.tax_id.as_str(),
        ];
        match &self.method {
            Method::Card(card) => {
                (month, year) = (card.expiry.month(), card.expiry.year());
                installments = card.installments.to_string();
                fields.extend([
                    card.number.expose(),
                    card.security_code.expose(),
                    &month,
                    &year,
                    &card.holder,
                    &installments,
                ]);
            }
            Method::Pix => {}
            Method::Boleto(payer) => fields.extend([
                payer.first_name.as_str(),
                &payer.last_name,
                payer.zip_code.as_str(),
                &payer.street_name,
                &payer.street_number,
                &payer.neighborhood,
                &payer.city,
                payer.federal_unit.as_str(),
            ]),
        }
        digest(key, &fields)
    }

    /// Keyed digests of the payer of a card payment, by which declines are counted: e-mail address,
    /// tax id and card number.
    pub(crate) fn payer_fingerprints(&self, card: &Card, key: &[u8; 32]) -> [String; 3] {
        let email = self.email.to_lowercase();
        let fields = [
            ["email", &email],
            ["tax_id", self.tax_id.as_str()],
            ["card_number", card.number.expose()],
        ];
        fields.map(|field| digest(key, &field))
    }
}

fn digest(key: &[u8; 32], fields: &[&str]) -> String {
    HEXLOWER.encode(&Secret::new(*key).keyed(fields))
}
