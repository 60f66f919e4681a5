//! `balcao sandbox`: runs only the provider sandbox, for a separate `serve` or for testing client
//! libraries.

use clap::Args;

use super::common::Common;
use crate::failure::Failure;
use crate::run::{self, ServiceHost};
use crate::settings::Purpose;

/// Run a payment provider that moves no money
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  balcao sandbox\n  BALCAO_CHECKOUT_PROVIDER_URL=http://127.0.0.1:8002 BALCAO_CHECKOUT_PROVIDER_ACCESS_TOKEN=TEST-any balcao serve --only checkout"
)]
pub(super) struct SandboxArguments {
    /// Keep nothing on disk
    #[arg(long)]
    forget: bool,
}

pub(super) fn run(arguments: &SandboxArguments, common: &Common) -> Result<(), Failure> {
    common.run(Purpose::Any, async |settings| {
        let mut host = ServiceHost::new(&settings)?;
        let listener = run::sandbox::listen(&settings).await?;
        let secrets = &settings.checkout_provider_webhook_secret;
        let secret = secrets.first().map(|secret| secret.expose().to_owned());
        run::sandbox::start(&mut host, &settings, listener, (!arguments.forget, secret))?;
        run::ready();
        host.until_stopped(async {}).await
    })
}
