//! BR Code, the text of a pix QR code: encoding and parsing, with its checksum.
//!
//! A BR Code is an EMV merchant-presented code (tag, two-digit length, value), restricted by the
//! Banco Central's *Manual de Padrões para Iniciação do Pix*. It has either a pix key (static) or
//! the address of a charge (dynamic). Amounts are in BRL.

use std::fmt::Write as _;

const GLOBALLY_UNIQUE_ID: &str = "br.gov.bcb.pix";
const CURRENCY_BRL: &str = "986";
/// The placeholder for a missing transaction id, or for one at the charge's address.
const NO_TRANSACTION_ID: &str = "***";
const CHECK_SUM_TAG: &str = "6304";
const LARGEST_AMOUNT: u64 = 999_999_999_999;

/// The content of a BR Code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrCode {
    /// The receiver.
    pub account: Account,
    /// Whether the code may be paid only once (point of initiation `12`).
    pub single_use: bool,
    /// Merchant category code (ISO 18245), four digits; `0000` when unknown.
    pub merchant_category: String,
    /// The amount in hundredths of BRL. `None` when the payer chooses it or the charge's address
    /// has it.
    pub amount_cents: Option<u64>,
    /// The receiver's name, at most 25 ASCII characters.
    pub merchant_name: String,
    /// The receiver's city, at most 15 ASCII characters.
    pub merchant_city: String,
    /// CEP, if given.
    pub postal_code: Option<String>,
    /// The transaction id, up to 25 letters and digits.
    pub transaction_id: Option<String>,
}

/// The two kinds of account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Account {
    /// A pix key, and an optional message to the payer.
    Static {
        /// A random UUID, an e-mail address, a phone number or a tax id.
        key: String,
        /// The message to the payer.
        information: Option<String>,
    },
    /// The address of a charge, without its scheme.
    Dynamic {
        /// Host and path.
        url: String,
    },
}

/// Why a code cannot be encoded or parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BrCodeError {
    /// A value is empty, too long, or has characters that its field does not allow.
    #[error("field {0} has a value that does not fit")]
    Field(&'static str),
    /// Tags and lengths do not match the text.
    #[error("is not a sequence of tags, lengths and values")]
    Structure,
    /// A required tag is missing.
    #[error("field {0} is missing")]
    Missing(&'static str),
    /// The last four characters are not the checksum of the rest.
    #[error("check sum does not match")]
    CheckSum,
}

/// CRC-16/CCITT-FALSE: polynomial 0x1021, initial value 0xFFFF, no reflection, no final exclusive
/// or.
pub fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0xFFFF, |crc, byte| {
        let mut crc = crc ^ (u16::from(*byte) << 8);
        for _ in 0..8 {
            let carry = crc & 0x8000 != 0;
            crc <<= 1;
            if carry {
                crc ^= 0x1021;
            }
        }
        crc
    })
}

impl BrCode {
    /// Encodes the code with its checksum.
    ///
    /// # Errors
    /// The tag of the first field whose value does not fit.
    pub fn encode(&self) -> Result<String, BrCodeError> {
        let mut text = String::with_capacity(200);
        push(&mut text, "00", "01");
        if self.single_use {
            push(&mut text, "01", "12");
        }
        push(&mut text, "26", &self.account.encode()?);
        push(&mut text, "52", self.checked_category()?);
        push(&mut text, "53", CURRENCY_BRL);
        if let Some(cents) = self.amount_cents {
            push(&mut text, "54", &written_amount(cents)?);
        }
        push(&mut text, "58", "BR");
        push(&mut text, "59", ascii(&self.merchant_name, 25, "59")?);
        push(&mut text, "60", ascii(&self.merchant_city, 15, "60")?);
        if let Some(postal_code) = &self.postal_code {
            push(&mut text, "61", ascii(postal_code, 10, "61")?);
        }
        let mut additional = String::new();
        push(&mut additional, "05", self.checked_transaction_id()?);
        push(&mut text, "62", &additional);
        text.push_str(CHECK_SUM_TAG);
        let sum = crc16(text.as_bytes());
        // Writing into a String cannot fail, here and below.
        let _ = write!(text, "{sum:04X}");
        Ok(text)
    }

    /// Parses a code. Tags that pix does not use are ignored.
    ///
    /// # Errors
    /// The first deviation from the manual. The checksum is verified first.
    pub fn parse(text: &str) -> Result<Self, BrCodeError> {
        let body = checked_body(text)?;
        let fields = Fields::parse(body)?;
        if fields.required("00")? != "01" {
            return Err(BrCodeError::Field("00"));
        }
        if fields.required("53")? != CURRENCY_BRL {
            return Err(BrCodeError::Field("53"));
        }
        if fields.required("58")? != "BR" {
            return Err(BrCodeError::Field("58"));
        }
        let additional = Fields::parse(fields.get("62").unwrap_or_default())?;
        Ok(Self {
            account: Account::parse(&fields)?,
            single_use: fields.get("01") == Some("12"),
            merchant_category: fields.required("52")?.to_owned(),
            amount_cents: fields.get("54").map(read_amount).transpose()?,
            merchant_name: fields.required("59")?.to_owned(),
            merchant_city: fields.required("60")?.to_owned(),
            postal_code: fields.get("61").map(str::to_owned),
            transaction_id: additional
                .get("05")
                .filter(|id| *id != NO_TRANSACTION_ID)
                .map(str::to_owned),
        })
    }

    fn checked_category(&self) -> Result<&str, BrCodeError> {
        let category = &self.merchant_category;
        if category.len() == 4 && category.bytes().all(|byte| byte.is_ascii_digit()) {
            Ok(category)
        } else {
            Err(BrCodeError::Field("52"))
        }
    }

    fn checked_transaction_id(&self) -> Result<&str, BrCodeError> {
        let Some(id) = self.transaction_id.as_deref() else {
            return Ok(NO_TRANSACTION_ID);
        };
        if id.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            ascii(id, 25, "62")
        } else {
            Err(BrCodeError::Field("62"))
        }
    }
}

impl Account {
    fn encode(&self) -> Result<String, BrCodeError> {
        let mut text = String::new();
        push(&mut text, "00", GLOBALLY_UNIQUE_ID);
        match self {
            Account::Static { key, information } => {
                push(&mut text, "01", ascii(key, 77, "26")?);
                if let Some(information) = information {
                    push(&mut text, "02", ascii(information, 72, "26")?);
                }
            }
            Account::Dynamic { url } => push(&mut text, "25", ascii(url, 77, "26")?),
        }
        ascii(&text, 99, "26")?;
        Ok(text)
    }

    /// The pix account can be in any of the merchant account tags, 26 to 51.
    fn parse(fields: &Fields<'_>) -> Result<Self, BrCodeError> {
        let accounts = fields
            .0
            .iter()
            .filter(|(tag, _)| ("26"..="51").contains(tag));
        for (_, value) in accounts {
            let account = Fields::parse(value)?;
            let is_pix = account
                .get("00")
                .is_some_and(|id| id.eq_ignore_ascii_case(GLOBALLY_UNIQUE_ID));
            if !is_pix {
                continue;
            }
            return match (account.get("01"), account.get("25")) {
                (Some(key), None) => Ok(Account::Static {
                    key: key.to_owned(),
                    information: account.get("02").map(str::to_owned),
                }),
                (None, Some(url)) => Ok(Account::Dynamic {
                    url: url.to_owned(),
                }),
                _ => Err(BrCodeError::Field("26")),
            };
        }
        Err(BrCodeError::Missing("26"))
    }
}

/// The tags and values of one level, in order.
struct Fields<'a>(Vec<(&'a str, &'a str)>);

impl<'a> Fields<'a> {
    fn parse(mut text: &'a str) -> Result<Self, BrCodeError> {
        let mut fields = Vec::new();
        while !text.is_empty() {
            let (tag, rest) = split(text, 2)?;
            let (length, rest) = split(rest, 2)?;
            let digits = tag.bytes().chain(length.bytes());
            if !digits.into_iter().all(|byte| byte.is_ascii_digit()) {
                return Err(BrCodeError::Structure);
            }
            let length = length.parse().map_err(|_| BrCodeError::Structure)?;
            let (value, rest) = split(rest, length)?;
            fields.push((tag, value));
            text = rest;
        }
        Ok(Self(fields))
    }

    fn get(&self, tag: &str) -> Option<&'a str> {
        self.0
            .iter()
            .find(|(name, _)| *name == tag)
            .map(|(_, value)| *value)
    }

    fn required(&self, tag: &'static str) -> Result<&'a str, BrCodeError> {
        self.get(tag).ok_or(BrCodeError::Missing(tag))
    }
}

/// The text before the checksum, which must be valid. The checksum covers its own tag and length.
fn checked_body(text: &str) -> Result<&str, BrCodeError> {
    let (covered, sum) = text
        .len()
        .checked_sub(4)
        .and_then(|end| text.split_at_checked(end))
        .ok_or(BrCodeError::Structure)?;
    let body = covered
        .strip_suffix(CHECK_SUM_TAG)
        .ok_or(BrCodeError::Missing("63"))?;
    if sum.eq_ignore_ascii_case(&format!("{:04X}", crc16(covered.as_bytes()))) {
        Ok(body)
    } else {
        Err(BrCodeError::CheckSum)
    }
}

/// Splits a text after a number of characters. Lengths count characters, since some banks write
/// names with accents.
fn split(text: &str, characters: usize) -> Result<(&str, &str), BrCodeError> {
    let end = text
        .char_indices()
        .map(|(place, _)| place)
        .chain([text.len()])
        .nth(characters)
        .ok_or(BrCodeError::Structure)?;
    text.split_at_checked(end).ok_or(BrCodeError::Structure)
}

fn push(text: &mut String, tag: &str, value: &str) {
    text.push_str(tag);
    let _ = write!(text, "{:02}", value.len());
    text.push_str(value);
}

fn ascii<'a>(value: &'a str, longest: usize, tag: &'static str) -> Result<&'a str, BrCodeError> {
    let printable = value.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    if printable && (1..=longest).contains(&value.len()) {
        Ok(value)
    } else {
        Err(BrCodeError::Field(tag))
    }
}

/// Formats an amount with at most 13 characters, including the point.
fn written_amount(cents: u64) -> Result<String, BrCodeError> {
    if cents > LARGEST_AMOUNT {
        return Err(BrCodeError::Field("54"));
    }
    Ok(format!("{}.{:02}", cents / 100, cents % 100))
}

fn read_amount(text: &str) -> Result<u64, BrCodeError> {
    let refused = BrCodeError::Field("54");
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let digits = format!("{whole}{part:0<2}");
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
    if !plain || whole.is_empty() || part.len() > 2 || text.len() > 13 {
        return Err(refused);
    }
    digits.parse().map_err(|_| refused)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The sample in the Banco Central's manual, without its checksum.
    const STATIC_SAMPLE: &str = "00020126580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-4266554400005204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***6304";

    fn sample() -> BrCode {
        BrCode {
            account: Account::Static {
                key: "123e4567-e12b-12d1-a456-426655440000".to_owned(),
                information: None,
            },
            single_use: false,
            merchant_category: "0000".to_owned(),
            amount_cents: None,
            merchant_name: "Fulano de Tal".to_owned(),
            merchant_city: "BRASILIA".to_owned(),
            postal_code: None,
            transaction_id: None,
        }
    }

    /// A text with its checksum.
    fn summed(body: &str) -> String {
        format!("{body}6304{:04X}", crc16(format!("{body}6304").as_bytes()))
    }

    #[test]
    fn the_check_value_of_the_polynomial_is_right() {
        assert_eq!(crc16(b"123456789"), 0x29B1);
    }

    #[test]
    fn the_static_sample_of_the_manual_is_written_and_read() {
        let text = format!("{STATIC_SAMPLE}1D3D");
        assert_eq!(sample().encode().unwrap(), text);
        assert_eq!(BrCode::parse(&text).unwrap(), sample());
        let lower = format!("{STATIC_SAMPLE}1d3d");
        assert_eq!(BrCode::parse(&lower).unwrap(), sample());
    }

    #[test]
    fn a_dynamic_code_gives_the_charges_address() {
        let code = BrCode::parse(
            "00020101021226770014BR.GOV.BCB.PIX2555pix.example.com/qr/93598be0-1bd0-4997-8318-81776a1d8a99\
             5204000053039865802BR5907EMPRESA6009SAO PAULO62070503***6304EEAB",
        )
        .unwrap();
        let url = "pix.example.com/qr/93598be0-1bd0-4997-8318-81776a1d8a99".to_owned();
        assert_eq!(code.account, Account::Dynamic { url });
        assert!(code.single_use);
    }

    #[test]
    fn a_code_that_was_edited_is_noticed() {
        let wrong_sum = format!("{STATIC_SAMPLE}170E");
        assert_eq!(BrCode::parse(&wrong_sum), Err(BrCodeError::CheckSum));
        let other_name = format!("{STATIC_SAMPLE}1D3D").replace("Fulano", "Sicano");
        assert_eq!(BrCode::parse(&other_name), Err(BrCodeError::CheckSum));
    }

    #[test]
    fn what_is_no_code_says_why() {
        let error = |body: &str| BrCode::parse(&summed(body)).unwrap_err();
        assert_eq!(BrCode::parse(""), Err(BrCodeError::Structure));
        assert_eq!(BrCode::parse("000201"), Err(BrCodeError::Missing("63")));
        assert_eq!(error(""), BrCodeError::Missing("00"));
        assert_eq!(error("0002"), BrCodeError::Structure);
        assert_eq!(error("00+101"), BrCodeError::Structure);
        assert_eq!(error("0002015303840"), BrCodeError::Field("53"));
        assert_eq!(
            error("00020153039865802BR52040000"),
            BrCodeError::Missing("26")
        );
    }

    #[test]
    fn amounts_are_exact_hundredths() {
        for (text, cents) in [
            ("0.01", 1),
            ("10", 1_000),
            ("10.5", 1_050),
            ("9999999999.99", LARGEST_AMOUNT),
        ] {
            assert_eq!(read_amount(text), Ok(cents));
        }
        for text in ["", ".5", "1,00", "1.000", "-1.00", "1e3", "99999999999.99"] {
            assert_eq!(read_amount(text), Err(BrCodeError::Field("54")), "{text}");
        }
        let too_much = BrCode {
            amount_cents: Some(LARGEST_AMOUNT + 1),
            ..sample()
        };
        assert_eq!(too_much.encode(), Err(BrCodeError::Field("54")));
    }

    #[test]
    fn values_that_do_not_fit_are_refused() {
        let with_name = |name: &str| BrCode {
            merchant_name: name.to_owned(),
            ..sample()
        };
        for name in ["", "João", "abcdefghijklmnopqrstuvwxyz"] {
            assert_eq!(with_name(name).encode(), Err(BrCodeError::Field("59")));
        }
        let transaction_id = Some("not-allowed".to_owned());
        let code = BrCode {
            transaction_id,
            ..sample()
        };
        assert_eq!(code.encode(), Err(BrCodeError::Field("62")));
    }

    #[test]
    fn accented_names_of_other_banks_are_read_by_characters() {
        let text = summed(
            "00020126360014br.gov.bcb.pix0114+55119999999995204000053039865802BR5904João6009São Paulo",
        );
        let code = BrCode::parse(&text).unwrap();
        assert_eq!(
            (code.merchant_name.as_str(), code.merchant_city.as_str()),
            ("João", "São Paulo")
        );
    }

    fn account() -> impl Strategy<Value = Account> {
        let information = proptest::option::of("[ -~]{1,15}");
        prop_oneof![
            ("[!-~]{1,57}", information)
                .prop_map(|(key, information)| Account::Static { key, information }),
            "[a-z0-9./-]{1,77}".prop_map(|url| Account::Dynamic { url }),
        ]
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(
            account in account(),
            single_use: bool,
            amount_cents in proptest::option::of(0..=LARGEST_AMOUNT),
            merchant_name in "[ -~]{1,25}",
            merchant_city in "[ -~]{1,15}",
            postal_code in proptest::option::of("[0-9]{8}"),
            transaction_id in proptest::option::of("[a-zA-Z0-9]{1,25}"),
        ) {
            let code = BrCode {
                account, single_use, merchant_category: "5732".to_owned(), amount_cents,
                merchant_name, merchant_city, postal_code, transaction_id,
            };
            prop_assert_eq!(BrCode::parse(&code.encode().unwrap()).unwrap(), code);
        }

        #[test]
        fn any_text_is_answered_without_a_panic(text in ".{0,120}") {
            let _ = BrCode::parse(&text);
            let _ = BrCode::parse(&summed(&text));
        }
    }
}
