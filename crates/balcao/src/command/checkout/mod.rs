//! `balcao checkout`: operators' commands for checkout: API keys, webhook endpoints, the list of
//! unknown outcomes, and reconciliation with the provider.

mod endpoint;
mod key;
mod open;
mod reconcile;

use clap::{Args, Subcommand};

use super::common::Common;
use crate::failure::Failure;

/// Manage merchants' API keys and webhook endpoints, and reconcile payments with the provider
#[derive(Args)]
pub(super) struct CheckoutArguments {
    #[command(subcommand)]
    action: CheckoutAction,
}

#[derive(Subcommand)]
enum CheckoutAction {
    /// API keys of merchants' servers
    #[command(subcommand)]
    Key(key::KeyAction),
    /// The shop's servers that get events of payments
    #[command(subcommand)]
    Endpoint(endpoint::PaymentEndpointAction),
    /// List the payments and refunds whose outcome is unknown: reference, kind, amount, age, the
    /// provider's last answer
    Open,
    /// Ask the provider about every payment whose state is open or unknown, and about what has
    /// changed since it was last asked
    Reconcile,
}

pub(super) fn run(arguments: CheckoutArguments, common: &Common) -> Result<(), Failure> {
    match arguments.action {
        CheckoutAction::Key(action) => key::run(action, common),
        CheckoutAction::Endpoint(action) => endpoint::run(action, common),
        CheckoutAction::Open => open::run(common),
        CheckoutAction::Reconcile => reconcile::run(common),
    }
}
