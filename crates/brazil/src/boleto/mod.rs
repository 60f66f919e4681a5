//! Boletos (Febraban cobrança): the 44-digit bar code, its 47-digit digitable line, the due date
//! factor in both, and the drawn bars.
//!
//! Slips of taxes and utilities, whose numbers begin with 8 and have 48 digits, are not boletos and
//! are refused.

mod due_factor;
mod itf;
mod number;

pub use due_factor::{due_date, due_factor};
pub use itf::{ItfError, svg};
pub use number::{Barcode, BoletoError, DigitableLine};
