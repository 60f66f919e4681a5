//! `balcao demo`: runs all services on this machine, connected to each other, without any setup.
//! Listens on loopback only and has its own data.

mod example;
mod greeting;

use std::fs;
use std::io;
use std::net::SocketAddr;
use std::path::Path;

use clap::Args;
use db::Address;
use web::Random;

use super::common::Common;
use crate::data_folder::FileLock;
use crate::failure::Failure;
use crate::run::{self, MissingDatabase, ServiceHost, checkout, inventory, sandbox};
use crate::settings::database_address::{CHECKOUT_FILE, INVENTORY_FILE};
use crate::settings::value::{ApiKey, Value};
use crate::settings::{Purpose, Secret, Settings};

/// Run everything on this machine, with a provider that moves no money
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  balcao demo\n  balcao demo --fresh                                       forget the payments of earlier demos\n  balcao demo --set checkout.listen=127.0.0.1:9000 --set sandbox.listen=127.0.0.1:9002"
)]
pub(super) struct DemoArguments {
    /// Start from scratch: removes the demo's own folder, `demo` in the data folder
    #[arg(long)]
    fresh: bool,
}

/// The API key of the demo. It is not a secret: demo services listen only on loopback.
pub(super) const API_KEY: &str = "demo-key";

pub(super) fn run(arguments: &DemoArguments, common: &Common) -> Result<(), Failure> {
    common.run(Purpose::Demo, async |mut settings| {
        refuse_other_machines(&settings)?;
        // The demo has its own folder, since --fresh must never remove the data of a real service.
        settings.data_dir = settings.data_dir.join("demo");
        demo(settings, arguments.fresh).await
    })
}

async fn demo(mut settings: Settings, fresh: bool) -> Result<(), Failure> {
    let mut host = ServiceHost::new(&settings)?;
    let sandbox = sandbox::listen(&settings).await?;
    let checkout = run::listen("BALCAO_CHECKOUT_LISTEN", settings.checkout_listen).await?;
    let inventory = run::listen("BALCAO_INVENTORY_LISTEN", settings.inventory_listen).await?;
    let metrics = run::listen_for_metrics(&settings).await?;
    let _lock = lock(&settings.data_dir)?;
    if fresh {
        remove(&settings.data_dir)?;
    }
    let addresses = greeting::Addresses {
        checkout: checkout.address(),
        inventory: inventory.address(),
        sandbox: sandbox.1,
    };
    let webhook_secret = Random::system().token();
    connect(&mut settings, &addresses, &webhook_secret).ok_or_else(|| {
        Failure::new("the demo cannot connect the services by the addresses that it was given")
    })?;
    sandbox::start(&mut host, &settings, sandbox, (true, Some(webhook_secret)))?;
    let missing = MissingDatabase::Create;
    let checkout = checkout::start(&mut host, &settings, checkout, missing).await?;
    example::prepare(&settings).await?;
    let inventory = inventory::start(&mut host, &settings, inventory, missing).await?;
    run::serve_metrics(&mut host, metrics);
    greeting::print(&addresses, &settings.data_dir)?;
    run::ready();
    host.until_stopped(run::close_all(vec![checkout, inventory]))
        .await
}

fn refuse_other_machines(settings: &Settings) -> Result<(), Failure> {
    let addresses = [
        ("BALCAO_CHECKOUT_LISTEN", Some(settings.checkout_listen)),
        ("BALCAO_INVENTORY_LISTEN", Some(settings.inventory_listen)),
        ("BALCAO_SANDBOX_LISTEN", Some(settings.sandbox_listen)),
        ("BALCAO_METRICS_LISTEN", settings.metrics_listen.on()),
    ];
    let open: Vec<String> = addresses
        .into_iter()
        .filter_map(|(name, address)| Some((name, address.filter(|address| !address.ip().is_loopback())?)))
        .map(|(name, address)| format!("{name}: found {address}; allowed in a demo: loopback addresses, such as 127.0.0.1:8000"))
        .collect();
    if open.is_empty() {
        Ok(())
    } else {
        Err(Failure::new(open.join("\n")))
    }
}

/// Sets the values that the demo decides itself. Other settings come from its command line, see
/// [`Purpose::Demo`]. `None` when a value is invalid.
fn connect(
    settings: &mut Settings,
    addresses: &greeting::Addresses,
    webhook_secret: &str,
) -> Option<()> {
    fn url<T: Value>(address: SocketAddr) -> Option<T> {
        Value::parse(&format!("http://{address}"))
    }
    let database = |file| Some(Address::Sqlite(settings.data_dir.join(file)));
    settings.checkout_database_url = database(CHECKOUT_FILE);
    settings.inventory_database_url = database(INVENTORY_FILE);
    settings.checkout_public_url = Some(url(addresses.checkout)?);
    settings.inventory_public_url = Some(url(addresses.inventory)?);
    settings.checkout_provider_url = Some(url(addresses.sandbox)?);
    settings.checkout_provider_access_token = Some(Value::parse("TEST-demo")?);
    settings.checkout_provider_webhook_secret = vec![Secret::parse(webhook_secret)?];
    settings.checkout_api_keys = vec![ApiKey(Secret::parse(API_KEY)?)];
    settings.inventory_checkout_url = Some(url(addresses.checkout)?);
    settings.inventory_checkout_key = Some(Secret::parse(API_KEY)?);
    settings.inventory_listen = addresses.inventory;
    settings.orders_book_stock = true;
    settings.checkout_secret = None;
    settings.inventory_token_secret = None;
    (settings.admin_username, settings.admin_password) = (None, None);
    (settings.tls_cert_file, settings.tls_key_file) = (None, None);
    settings.redis_url = None;
    Some(())
}

/// Locks the demo's folder, with a file beside it: `--fresh` removes what is inside.
fn lock(folder: &Path) -> Result<FileLock, Failure> {
    FileLock::acquire(folder).map_err(|error| match error.kind() {
        io::ErrorKind::WouldBlock => Failure::new(format!(
            "another demo runs in {} already; stop it, or give this one another BALCAO_DATA_DIR",
            folder.display()
        )),
        _ => Failure::of_path(folder, "cannot be locked", &error),
    })
}

fn remove(folder: &Path) -> Result<(), Failure> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(Failure::of_path(folder, "cannot be removed", &error))
        }
        _ => Ok(()),
    }
}
