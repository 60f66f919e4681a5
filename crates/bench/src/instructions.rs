//! `balcao bench instructions`: the cost of one request to the service's process, in instructions.
//!
//! The number of instructions is the same on a busy and on an idle machine, so a change of a few
//! per cent is visible. valgrind's callgrind counts the program's instructions without the
//! kernel's. Requests are sent one after the other on one connection, with rate limits on, each to
//! another address. Two runs, the second with twice as many requests, differ only by the requests:
//! both include the start on an existing database, the login and first-request work.

use std::path::{Path, PathBuf};

use clap::Args;
use tokio::process::Command;

use super::child::Child;
use super::load::{self, LoadError, Target};
use super::shop::{PLENTY, Shop, Size};
use super::{SERVE, check, checkout_settings, payment_target, report};

/// How much is asked for.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "valgrind keeps a profile of each run. To read them:\n  CARGO_PROFILE_RELEASE_STRIP=none CARGO_PROFILE_RELEASE_DEBUG=line-tables-only cargo build --release\n  target/release/balcao bench instructions --keep\n  callgrind_annotate --inclusive=yes balcao-bench/inventory/callgrind.out"
)]
pub(super) struct InstructionsArguments {
    /// Only these requests, separated by commas; all of them by default
    #[arg(long, value_enum, value_delimiter = ',')]
    only: Vec<Figure>,
    /// Requests of the first counted run; the second has twice as many
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..))]
    requests: u32,
    /// Products of the data set
    #[arg(long, default_value_t = 10_000)]
    products: u64,
    /// Which log lines the service writes, to a file
    #[arg(long, default_value = "info")]
    log: String,
    /// Folder for the databases; removed afterwards
    #[arg(long, default_value = "./balcao-bench")]
    pub(super) folder: PathBuf,
    /// Keep the folder with callgrind's profiles
    #[arg(long)]
    pub(super) keep: bool,
}

/// A request that is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Figure {
    /// `GET /api/v1/products/{id}/`
    Product,
    /// `GET /api/v1/products/?page_size=10&page={page}`
    List,
    /// `POST /api/v1/outflows/`
    Sale,
    /// `POST /create_payment`, before a provider that answers at once
    Payment,
}

const FIGURES: [(Figure, &str, &str); 4] = [
    (
        Figure::Product,
        "one product",
        "at most 90,000 instructions",
    ),
    (Figure::List, "list of 10", "at most 260,000 instructions"),
    (Figure::Sale, "sale", ""),
    (Figure::Payment, "payment", ""),
];

/// Measures what is wanted; the databases are in this folder.
///
/// # Errors
///
/// When a process does not start, when requests fail, or when valgrind is missing.
pub(super) async fn measure(
    arguments: &InstructionsArguments,
    folder: &Path,
) -> Result<(), LoadError> {
    if !has_callgrind().await {
        return Err(
            "callgrind counts the instructions: install valgrind (on Debian: apt install valgrind)"
                .into(),
        );
    }
    let bench = Bench {
        arguments,
        folder,
        // Started only once, so that no two payments of the consecutive checkouts get the same id.
        provider: Child::start(&["bench", "provider"], &[], &folder.join("provider")).await?,
    };
    let is_wanted = |figure| arguments.only.is_empty() || arguments.only.contains(&figure);
    for (figure, what, goal) in FIGURES {
        if is_wanted(figure) {
            let instructions = bench.instructions(figure).await?;
            let text = format!("{instructions} instructions");
            report(&format!("{what}, one request"), &text, goal);
        }
    }
    Ok(())
}

async fn has_callgrind() -> bool {
    let version = Command::new("valgrind")
        .args(["--tool=callgrind", "--version"])
        .output();
    version.await.is_ok_and(|output| output.status.success())
}

/// How a service is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Plain,
    Counted,
}

/// The measurements of one run of the command.
struct Bench<'run> {
    arguments: &'run InstructionsArguments,
    folder: &'run Path,
    provider: Child,
}

impl Bench<'_> {
    /// The instructions of one request.
    async fn instructions(&self, figure: Figure) -> Result<u64, LoadError> {
        let requests = self.arguments.requests;
        // This run makes the database that the counted ones find.
        self.start(figure, Mode::Plain).await?.child.stop().await?;
        let mut totals = [0, 0];
        for (times, total) in [1, 2].into_iter().zip(&mut totals) {
            let service = self.start(figure, Mode::Counted).await?;
            service.send(requests * times).await?;
            *total = service.child.end_counted(&service.data).await?;
        }
        let [once, twice] = totals;
        Ok(twice.saturating_sub(once) / u64::from(requests))
    }

    async fn start(&self, figure: Figure, mode: Mode) -> Result<Service, LoadError> {
        match figure {
            Figure::Product | Figure::List | Figure::Sale => self.inventory(figure, mode).await,
            Figure::Payment => self.checkout(mode).await,
        }
    }

    async fn inventory(&self, figure: Figure, mode: Mode) -> Result<Service, LoadError> {
        let data = self.folder.join("inventory");
        let products = self.arguments.products;
        let size = Size {
            products,
            movements: products,
        };
        let log = [("BALCAO_LOG", self.arguments.log.clone())];
        let shop = match mode {
            Mode::Plain => Shop::open(&data, None, size, log).await?,
            Mode::Counted => Shop::open_counted(&data, size, log).await?,
        };
        if figure == Figure::Sale && mode == Mode::Plain {
            shop.stock_up(products, PLENTY).await?;
        }
        let target = match figure {
            Figure::Product => shop.reads(products),
            Figure::List => shop.lists(products),
            Figure::Sale | Figure::Payment => shop.sales(products),
        };
        let child = shop.child;
        Ok(Service {
            child,
            target,
            data,
        })
    }

    async fn checkout(&self, mode: Mode) -> Result<Service, LoadError> {
        let settings = checkout_settings(&self.arguments.log, &self.provider)?;
        let data = self.folder.join("checkout");
        let child = match mode {
            Mode::Plain => Child::start(SERVE, &settings, &data).await?,
            Mode::Counted => Child::start_counted(SERVE, &settings, &data).await?,
        };
        let target = payment_target(&child)?;
        Ok(Service {
            child,
            target,
            data,
        })
    }
}

/// A running service, and the requests to it.
struct Service {
    child: Child,
    target: Target,
    data: PathBuf,
}

impl Service {
    /// Sends `requests` requests one after the other on one connection.
    async fn send(&self, requests: u32) -> Result<(), LoadError> {
        let requests = usize::try_from(requests)?;
        let done = load::run_count(&self.target, 1, requests).await?;
        check(&done, "the service")
    }
}
