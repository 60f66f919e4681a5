//! The formats of a Brazilian payment, as pure functions: tax ids (CPF, CNPJ), postal codes (CEP) and federal units, card networks,
//! pix BR Codes, boleto numbers with their due-factor, and the bars and squares that draw them.
//!
//! Nothing here knows HTTP, databases or clocks; amounts are whole hundredths (`u64`), never floats.
//! Which of these a payment needs, and what its refusal says to a client, is decided in `checkout`.

pub mod boleto;
pub mod br_code;
pub mod qr;

mod address;
mod card;
mod check_digits;
mod tax_id;

pub use address::{FederalUnit, FederalUnitError, PostalCode, PostalCodeError};
pub use card::{NETWORKS, Network, NetworkRules, PrefixRange, is_luhn_valid};
pub use tax_id::{TaxId, TaxIdError, TaxIdKind};
