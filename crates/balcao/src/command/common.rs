//! What all commands share: the common options, and running with settings, log and async runtime.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::failure::{Context, Failure};
use crate::settings::{self, Purpose, Services, Settings, SettingsReport, Sources};
use crate::{logs, process};

/// Options that every command understands.
#[derive(Debug, Args)]
pub(crate) struct Common {
    /// Configuration file instead of ./balcao.toml
    #[arg(long, value_name = "FILE", global = true)]
    config: Option<PathBuf>,
    /// Data folder, as `BALCAO_DATA_DIR`
    #[arg(long, value_name = "DIR", global = true)]
    data_dir: Option<PathBuf>,
    /// A setting, such as checkout.listen=127.0.0.1:0 (any number of times)
    #[arg(long, value_name = "NAME=VALUE", global = true, value_parser = name_and_value)]
    set: Vec<(String, String)>,
}

impl Common {
    /// The settings for `purpose`, with all problems and warnings.
    pub(super) fn report(&self, purpose: Purpose) -> SettingsReport {
        let mut set = self.set.clone();
        set.extend(
            self.data_dir
                .iter()
                .map(|folder| ("BALCAO_DATA_DIR".to_owned(), folder.display().to_string())),
        );
        let sources = Sources::of_process(&set, self.config.as_deref());
        settings::read(sources, purpose)
    }

    /// Reads the settings for `purpose`, starts the log, and runs `work` on the async runtime.
    pub(super) fn run(
        &self,
        purpose: Purpose,
        work: impl AsyncFnOnce(Settings) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let report = self.report(purpose);
        let settings = report.settings?;
        let _logs = logs::start(&settings)?;
        // Panics are logged, since the log masks card numbers, and not printed to standard error.
        web::panics::install_hook();
        for warning in &report.warnings {
            tracing::warn!("{warning}");
        }
        let runtime = process::runtime().context("the runtime cannot start")?;
        let done = runtime.block_on(work(settings));
        // A thread may still wait for a database that does not respond. The process does not wait
        // for it.
        runtime.shutdown_background();
        done
    }
}

fn name_and_value(text: &str) -> Result<(String, String), String> {
    let (name, value) = text
        .split_once('=')
        .ok_or("allowed: NAME=VALUE, such as checkout.listen=127.0.0.1:0")?;
    Ok((name.to_owned(), value.to_owned()))
}

/// A service that can run alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Service {
    Checkout,
    Inventory,
}

/// The services to run: all, or `only` one.
pub(super) fn services(only: Option<Service>) -> Services {
    Services {
        checkout: only.is_none_or(|service| service == Service::Checkout),
        inventory: only.is_none_or(|service| service == Service::Inventory),
    }
}
