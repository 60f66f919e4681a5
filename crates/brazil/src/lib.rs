//! Formats of Brazilian payments, as pure functions: tax ids (CPF, CNPJ), postal codes (CEP) and
//! federal units, card networks, pix BR Codes, boleto numbers with their due date factor, and
//! images of bar codes and QR codes.
//!
//! This crate knows no HTTP, databases or clocks. Amounts are whole hundredths (`u64`), never
//! floats. `checkout` decides which of these a payment requires, and the errors for invalid ones.

pub mod boleto;
pub mod br_code;
pub mod qr;

mod address;
mod card;
mod check_digits;
mod tax_id;

pub use address::{FederalUnit, FederalUnitError, PostalCode, PostalCodeError};
pub use card::{NETWORKS, Network, NetworkRules, PrefixRange, holds_card_number, is_luhn_valid};
pub use tax_id::{TaxId, TaxIdError, TaxIdKind};
