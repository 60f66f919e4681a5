//! `balcao demo`: everything on this machine, connected to each other, with nothing to set up. Loopback only, with data of its own.

mod example;
mod greeting;

use std::fs;
use std::io;
use std::net::SocketAddr;
use std::path::Path;

use clap::Args;
use db::Address;
use web::Random;
use web::client::PublicUrl;

use super::{Common, Failure};
use crate::data_folder;
use crate::run::{self, IfGone, Run, checkout, inventory, sandbox};
use crate::settings::value::{ApiKeys, ProviderUrl, SecretList, Switch, Value, WebUrl};
use crate::settings::{Purpose, Secret, Settings};

/// Run everything on this machine, with a provider that moves no money
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  balcao demo\n  balcao demo --fresh                                       forget the payments of earlier demos\n  balcao demo --set checkout.listen=127.0.0.1:9000 --set sandbox.listen=127.0.0.1:9002"
)]
pub(crate) struct Arguments {
    /// Start from scratch: removes the demo's own folder, `demo` in the data folder
    #[arg(long)]
    fresh: bool,
}

/// The merchant's key of the demo. No secret: it opens only what listens on loopback.
pub(super) const API_KEY: &str = "demo-key";

/// Runs the command.
///
/// # Errors
///
/// When an address is not loopback or cannot be had, or the data cannot be used.
pub(crate) fn run(arguments: &Arguments, common: &Common) -> Result<(), Failure> {
    let (mut settings, warnings) = common.settings(Purpose::Demo)?;
    refuse_other_machines(&settings)?;
    // The folder below keeps --fresh from ever removing what a real service stored.
    settings.data_dir = settings.data_dir.join("demo");
    super::with_runtime(
        &settings.clone(),
        &warnings,
        demo(settings, arguments.fresh),
    )
}

async fn demo(mut settings: Settings, fresh: bool) -> Result<(), Failure> {
    let random = Random::system();
    let mut run = Run::new(&settings)?;
    let sandbox = sandbox::listen(settings.sandbox_listen).await?;
    let checkout = run::listen("BALCAO_CHECKOUT_LISTEN", settings.checkout_listen).await?;
    let inventory = run::listen("BALCAO_INVENTORY_LISTEN", settings.inventory_listen).await?;
    let metrics = run::listen_for_metrics(&settings).await?;
    if fresh {
        forget(&settings.data_dir)?;
    }
    let webhook_secret = random.token();
    wire(
        &mut settings,
        sandbox.address,
        checkout.address(),
        inventory.address(),
        &webhook_secret,
    )?;
    let journal = settings.data_dir.join("sandbox");
    data_folder::create(&journal)
        .map_err(|error| Failure::of(&journal.display().to_string(), &error))?;
    let addresses = greeting::Addresses {
        checkout: checkout.address(),
        inventory: inventory.address(),
        sandbox: sandbox.address,
    };
    let config = ::sandbox::Config {
        data: Some(journal),
        webhook_secret: Some(webhook_secret),
        ..::sandbox::Config::default()
    };
    sandbox::start(&mut run, sandbox, config)?;
    let checkout = checkout::start(&mut run, &settings, checkout, IfGone::Refuse).await?;
    example::prepare(&settings).await?;
    let inventory = inventory::start(&mut run, &settings, inventory, IfGone::Refuse).await?;
    run::metrics(&mut run, metrics);
    greeting::print(&addresses, &settings.data_dir);
    run::ready();
    run.until_stopped(async {
        checkout.close().await;
        inventory.close().await;
    })
    .await
}

fn refuse_other_machines(settings: &Settings) -> Result<(), Failure> {
    let metrics = match settings.metrics_listen {
        Switch::On(address) => Some(address),
        Switch::Off => None,
    };
    let addresses = [
        ("BALCAO_CHECKOUT_LISTEN", Some(settings.checkout_listen)),
        ("BALCAO_INVENTORY_LISTEN", Some(settings.inventory_listen)),
        ("BALCAO_SANDBOX_LISTEN", Some(settings.sandbox_listen)),
        ("BALCAO_METRICS_LISTEN", metrics),
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

/// Sets what a demo decides by itself. Settings that reach the outside come from its command line alone, see [`Purpose::Demo`].
fn wire(
    settings: &mut Settings,
    sandbox: SocketAddr,
    checkout: SocketAddr,
    inventory: SocketAddr,
    webhook_secret: &str,
) -> Result<(), Failure> {
    let unusable =
        || Failure::new("the demo cannot be wired to the addresses it was given".to_owned());
    let secret = |text: &str| Secret::parse(text).ok_or_else(unusable);
    settings.checkout_provider_url =
        Some(ProviderUrl::parse(&format!("http://{sandbox}")).ok_or_else(unusable)?);
    settings.checkout_provider_access_token = Some(Value::parse("TEST-demo").ok_or_else(unusable)?);
    settings.checkout_provider_webhook_secret = SecretList(vec![secret(webhook_secret)?]);
    settings.checkout_api_keys = ApiKeys(SecretList(vec![secret(API_KEY)?]));
    let public = |address: SocketAddr| {
        let url = format!("http://{address}").parse::<PublicUrl>();
        url.map_err(|_| unusable())
    };
    settings.checkout_public_url = Some(public(checkout)?);
    settings.inventory_public_url = Some(public(inventory)?);
    (settings.inventory_listen, settings.orders_book_stock) = (inventory, true);
    settings.inventory_database_url =
        Some(Address::Sqlite(settings.data_dir.join("inventory.sqlite")));
    settings.inventory_token_secret = None;
    settings.inventory_checkout_url =
        Some(WebUrl::parse(&format!("http://{checkout}")).ok_or_else(unusable)?);
    settings.inventory_checkout_key = Some(secret(API_KEY)?);
    (settings.admin_username, settings.admin_password) = (None, None);
    settings.checkout_database_url =
        Some(Address::Sqlite(settings.data_dir.join("checkout.sqlite")));
    settings.checkout_secret = None;
    (
        settings.tls_cert_file,
        settings.tls_key_file,
        settings.redis_url,
    ) = (None, None, None);
    Ok(())
}

fn forget(folder: &Path) -> Result<(), Failure> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Failure::of(
            &format!("{} cannot be removed", folder.display()),
            &error,
        )),
        _ => Ok(()),
    }
}
