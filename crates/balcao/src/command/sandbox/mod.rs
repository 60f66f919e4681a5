//! `balcao sandbox`: the provider sandbox alone, for a `serve` that runs beside it or for trying client libraries.

use clap::Args;
use sandbox::Config;

use super::{Common, Failure};
use crate::data_folder;
use crate::run::{self, Run};
use crate::settings::value::SecretList;
use crate::settings::{Purpose, Settings};

/// Run a payment provider that moves no money
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  balcao sandbox\n  BALCAO_CHECKOUT_PROVIDER_URL=http://127.0.0.1:8002 BALCAO_CHECKOUT_PROVIDER_ACCESS_TOKEN=TEST-any balcao serve --only checkout"
)]
pub(crate) struct Arguments {
    /// Keep nothing on disk
    #[arg(long)]
    forget: bool,
}

/// Runs the command.
///
/// # Errors
///
/// When the address or the journal cannot be had.
pub(crate) fn run(arguments: &Arguments, common: &Common) -> Result<(), Failure> {
    let (settings, warnings) = common.settings(Purpose::Any)?;
    super::with_runtime(&settings, &warnings, serve(&settings, arguments.forget))
}

async fn serve(settings: &Settings, forget: bool) -> Result<(), Failure> {
    let mut run = Run::new(settings)?;
    let place = run::sandbox::listen(settings.sandbox_listen).await?;
    let data = (!forget).then(|| settings.data_dir.join("sandbox"));
    if let Some(folder) = &data {
        data_folder::create(folder)
            .map_err(|error| Failure::of(&folder.display().to_string(), &error))?;
    }
    let SecretList(secrets) = &settings.checkout_provider_webhook_secret;
    let webhook_secret = secrets.first().map(|secret| secret.expose().to_owned());
    run::sandbox::start(
        &mut run,
        place,
        Config {
            data,
            webhook_secret,
            ..Config::default()
        },
    )?;
    run::ready();
    run.until_stopped(async {}).await
}
