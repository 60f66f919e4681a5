//! `balcao serve`: runs the services in production.

use clap::Args;

use super::common::{Common, Service, services};
use crate::failure::Failure;
use crate::run::{self, MissingDatabase, ServiceHost, checkout, inventory};
use crate::settings::{Purpose, Services, Settings};

/// Run the services
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  balcao serve\n  balcao --config /etc/balcao/balcao.toml serve --only checkout\n\nIt runs until SIGTERM or SIGINT, then ends open requests; a second signal ends at once."
)]
pub(super) struct ServeArguments {
    /// Run one service alone
    #[arg(long, value_name = "SERVICE")]
    only: Option<Service>,
    /// Begin with an empty SQLite database where only the key of an older one is left; for one
    /// start
    #[arg(long)]
    new_database: bool,
}

pub(super) fn run(arguments: &ServeArguments, common: &Common) -> Result<(), Failure> {
    let services = services(arguments.only);
    let missing = if arguments.new_database {
        MissingDatabase::CreateAnew
    } else {
        MissingDatabase::Create
    };
    common.run(Purpose::Serve(services), async |settings| {
        serve(settings, services, missing).await
    })
}

async fn serve(
    mut settings: Settings,
    services: Services,
    missing: MissingDatabase,
) -> Result<(), Failure> {
    let mut host = ServiceHost::new(&settings)?;
    // The addresses are bound first: a process that cannot listen must not open a database.
    let checkout_listener = if services.checkout {
        Some(run::listen("BALCAO_CHECKOUT_LISTEN", settings.checkout_listen).await?)
    } else {
        None
    };
    let inventory_listener = if services.inventory {
        Some(run::listen("BALCAO_INVENTORY_LISTEN", settings.inventory_listen).await?)
    } else {
        None
    };
    let metrics_listener = run::listen_for_metrics(&settings).await?;
    if let Some(listener) = &inventory_listener {
        // Checkout sends order events to this address, also when the system has chosen the port.
        settings.inventory_listen = listener.address();
    }
    let mut running = Vec::new();
    if let Some(listener) = checkout_listener {
        running.push(checkout::start(&mut host, &settings, listener, missing).await?);
    }
    if let Some(listener) = inventory_listener {
        running.push(inventory::start(&mut host, &settings, listener, missing).await?);
    }
    run::serve_metrics(&mut host, metrics_listener);
    run::ready();
    host.until_stopped(run::close_all(running)).await
}
