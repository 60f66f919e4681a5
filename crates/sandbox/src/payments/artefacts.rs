//! The text of a pix BR Code, and the digits of a boleto.

use std::time::Duration;

use brazil::boleto::{Barcode, due_factor};
use brazil::br_code::{Account, BrCode};

use crate::refusal::Refusal;
use crate::values::{Amount, Moment};

/// The default lifetime of a pix.
pub(crate) const PIX_LIFETIME: Duration = Duration::from_secs(24 * 60 * 60);
/// The default lifetime of a boleto.
pub(crate) const BOLETO_LIFETIME: Duration = Duration::from_secs(3 * 24 * 60 * 60);

/// The pix key of the sandbox's seller: a random one that no bank knows.
const PIX_KEY: &str = "5f1d2c3b-7a90-4e6d-8b2c-0a1b2c3d4e5f";
const SELLER: &str = "BALCAO SANDBOX";
const CITY: &str = "SAO PAULO";
/// Bank, agency with portfolio, and account in a boleto's number. The payment's own number is
/// between them.
const BANK: &str = "237";
const AGENCY: &str = "338126";
const ACCOUNT: &str = "00633330";

/// The BR Code for this payment.
pub(crate) fn pix_code(id: u64, amount: Amount) -> Result<Box<str>, Refusal> {
    let code = BrCode {
        account: Account::Static {
            key: PIX_KEY.to_owned(),
            information: None,
        },
        single_use: false,
        merchant_category: "0000".to_owned(),
        amount_cents: u64::try_from(amount.cents()).ok(),
        merchant_name: SELLER.to_owned(),
        merchant_city: CITY.to_owned(),
        postal_code: None,
        transaction_id: Some(format!("sandbox{id}")),
    };
    let text = code
        .encode()
        .map_err(|_| Refusal::bad(4037, "Invalid transaction_amount"))?;
    Ok(text.into())
}

/// The bank's number for the boleto: eleven digits.
pub(crate) fn bank_number(id: u64) -> String {
    format!("{:011}", id % 100_000_000_000)
}

/// The 44 digits of the boleto for this payment.
pub(crate) fn barcode(id: u64, amount: Amount, due: Moment) -> Result<Box<str>, Refusal> {
    let factor = due_factor(due.date()).unwrap_or_default();
    let cents = u64::try_from(amount.cents()).unwrap_or_default();
    let free_field = format!("{AGENCY}{}{ACCOUNT}", bank_number(id));
    let barcode = Barcode::new(BANK, factor, cents, &free_field)
        .map_err(|_| Refusal::bad(4037, "Invalid transaction_amount"))?;
    Ok(barcode.digits().into())
}
