//! A keyed digest of a whole request. It reveals whether two requests are the same, and nothing
//! else.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::{Card, Method, PaymentRequest};

impl PaymentRequest {
    /// HMAC-SHA256 of every field, card data included, as 64 hexadecimal digits. There are too few
    /// card numbers for a plain digest to hide one. With a keyed digest, nobody without the key can
    /// try them out.
    pub fn fingerprint(&self, key: &[u8; 32]) -> String {
        let mut digest = Digest::new(key);
        digest.field(self.method.kind().as_str());
        digest.field(&self.amount.to_string());
        digest.field(&self.description);
        digest.field(&self.email);
        digest.field(self.tax_id.as_str());
        match &self.method {
            Method::Card(card) => {
                digest.field(card.number.expose());
                digest.field(card.security_code.expose());
                digest.field(&card.expiry.month());
                digest.field(&card.expiry.year());
                digest.field(&card.holder);
                digest.field(&card.installments.to_string());
            }
            Method::Pix => {}
            Method::Boleto(payer) => {
                for text in [
                    &payer.first_name,
                    &payer.last_name,
                    payer.zip_code.as_str(),
                    &payer.street_name,
                    &payer.street_number,
                    &payer.neighborhood,
                    &payer.city,
                    payer.federal_unit.as_str(),
                ] {
                    digest.field(text);
                }
            }
        }
        digest.finish()
    }

    /// Keyed digests of the payer of a card payment, by which declines are counted: e-mail address,
    /// tax id and card number.
    pub(crate) fn payer_fingerprints(&self, card: &Card, key: &[u8; 32]) -> [String; 3] {
        let email = self.email.to_lowercase();
        let fields = [
            ("email", email.as_str()),
            ("tax_id", self.tax_id.as_str()),
            ("card_number", card.number.expose()),
        ];
        fields.map(|(name, value)| {
            let mut digest = Digest::new(key);
            digest.field(name);
            digest.field(value);
            digest.finish()
        })
    }
}

struct Digest(Hmac<Sha256>);

impl Digest {
    fn new(key: &[u8; 32]) -> Self {
        // HMAC pads a key that is shorter than the digest's block with zeros (RFC 2104).
        let mut block = [0; 64];
        for (to, from) in block.iter_mut().zip(key) {
            *to = *from;
        }
        Self(Hmac::new(&block.into()))
    }

    /// Each field is preceded by its length, so that different fields never give the same bytes.
    fn field(&mut self, text: &str) {
        self.0.update(&text.len().to_be_bytes());
        self.0.update(text.as_bytes());
    }

    fn finish(self) -> String {
        let bytes = self.0.finalize().into_bytes();
        let digit = |nibble: u8| char::from_digit(u32::from(nibble), 16).unwrap_or_default();
        bytes
            .iter()
            .flat_map(|byte| [digit(byte >> 4), digit(byte & 0xf)])
            .collect()
    }
}
