//! `balcao checkout`: an operator's commands for checkout: merchants' keys, receivers of webhooks, listing payments of unknown outcome, and
//! asking the provider about unfinished ones.

mod endpoint;
mod key;
mod open;
mod reconcile;

use clap::{Args, Subcommand};

use super::{Common, Failure};

/// Manage merchants' API keys and webhook endpoints, and reconcile payments with the provider
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// API keys of merchants' servers
    #[command(subcommand)]
    Key(key::Action),
    /// The shop's servers that get events of payments
    #[command(subcommand)]
    Endpoint(endpoint::Action),
    /// List the payments and refunds whose outcome is unknown: reference, kind, amount, age, the provider's last answer
    Open,
    /// Ask the provider about every payment whose state is open or unknown, and about what has changed since it was last asked
    Reconcile,
}

/// Runs the command.
///
/// # Errors
///
/// When settings, the database or the provider fail.
pub(crate) fn run(arguments: Arguments, common: &Common) -> Result<(), Failure> {
    match arguments.action {
        Action::Key(action) => key::run(action, common),
        Action::Endpoint(action) => endpoint::run(action, common),
        Action::Open => open::run(common),
        Action::Reconcile => reconcile::run(common),
    }
}
