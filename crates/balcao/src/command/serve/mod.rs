//! `balcao serve`: runs the services in production, from the configuration.

use std::net::SocketAddr;

use clap::Args;
use web::server::Listener;

use super::{Common, Failure, Service, services};
use crate::run::{self, IfGone, Run, checkout, inventory};
use crate::settings::{Purpose, Services, Settings};

/// Run the services
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  balcao serve\n  balcao --config /etc/balcao/balcao.toml serve --only checkout\n\nIt runs until SIGTERM or SIGINT, then ends open requests; a second signal ends at once."
)]
pub(crate) struct Arguments {
    /// Run one service alone
    #[arg(long, value_name = "SERVICE")]
    only: Option<Service>,
    /// Begin with an empty SQLite database where only the key of an older one is left; for one start
    #[arg(long)]
    new_database: bool,
}

/// Runs the command.
///
/// # Errors
///
/// When the configuration is not valid, an address cannot be had, or a database cannot be used.
pub(crate) fn run(arguments: &Arguments, common: &Common) -> Result<(), Failure> {
    let (settings, warnings) = common.settings(Purpose::Serve(services(arguments.only)))?;
    let services = services(arguments.only);
    let if_gone = if arguments.new_database {
        IfGone::BeginAnew
    } else {
        IfGone::Refuse
    };
    super::with_runtime(&settings, &warnings, serve(&settings, services, if_gone))
}

async fn serve(settings: &Settings, services: Services, if_gone: IfGone) -> Result<(), Failure> {
    let mut run = Run::new(settings)?;
    // Addresses first: whoever cannot listen does not touch a database.
    let to_checkout = listen(
        services.checkout,
        "BALCAO_CHECKOUT_LISTEN",
        settings.checkout_listen,
    )
    .await?;
    let to_inventory = listen(
        services.inventory,
        "BALCAO_INVENTORY_LISTEN",
        settings.inventory_listen,
    )
    .await?;
    let to_metrics = run::listen_for_metrics(settings).await?;
    let mut settings = settings.clone();
    if let Some(listener) = &to_inventory {
        // Checkout tells it of orders there, also when the system has chosen the port.
        settings.inventory_listen = listener.address();
    }
    let settings = &settings;
    let checkout = match to_checkout {
        Some(listener) => Some(checkout::start(&mut run, settings, listener, if_gone).await?),
        None => None,
    };
    let inventory = match to_inventory {
        Some(listener) => Some(inventory::start(&mut run, settings, listener, if_gone).await?),
        None => None,
    };
    run::metrics(&mut run, to_metrics);
    run::ready();
    run.until_stopped(async {
        if let Some(checkout) = checkout {
            checkout.close().await;
        }
        if let Some(inventory) = inventory {
            inventory.close().await;
        }
    })
    .await
}

async fn listen(
    is_wanted: bool,
    setting: &str,
    address: SocketAddr,
) -> Result<Option<Listener>, Failure> {
    if is_wanted {
        run::listen(setting, address).await.map(Some)
    } else {
        Ok(None)
    }
}
