//! `balcao serve`: the services for real, from configuration.

use clap::Args;

use super::{Common, Failure, Service, services};
use crate::console;
use crate::run::{self, Run, checkout};
use crate::settings::{Purpose, Settings};

/// Run the services
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  balcao serve\n  balcao --config /etc/balcao/balcao.toml serve --only checkout\n\nIt runs until SIGTERM or SIGINT, then ends open requests; a second signal ends at once."
)]
pub(crate) struct Arguments {
    /// Run one service alone
    #[arg(long, value_name = "SERVICE")]
    only: Option<Service>,
}

/// Runs the command.
///
/// # Errors
///
/// When the configuration is not valid, an address cannot be had, or a database cannot be used.
pub(crate) fn run(arguments: &Arguments, common: &Common) -> Result<(), Failure> {
    let (settings, warnings) = common.settings(Purpose::Serve(services(arguments.only)))?;
    super::with_runtime(&settings.clone(), &warnings, serve(settings))
}

async fn serve(settings: Settings) -> Result<(), Failure> {
    let mut run = Run::new()?;
    let listener = run::listen("BALCAO_CHECKOUT_LISTEN", settings.checkout_listen).await?;
    let service = checkout::start(&mut run, &settings, listener).await?;
    run::metrics(&mut run, &settings).await?;
    console::say("ready");
    run.until_stopped().await;
    service.close().await;
    Ok(())
}
