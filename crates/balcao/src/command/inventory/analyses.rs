//! `balcao inventory analyses`: lists and shows restock analyses, and runs one now. The service may
//! be running.

use std::time::Duration;

use ::inventory::State;
use ::inventory::analysis::{self, Analysis, AnalysisSummary, Source};
use clap::Subcommand;
use db::Db;
use web::locale::Locale;

use crate::command::common::Common;
use crate::console;
use crate::failure::{Context, Failure};
use crate::run::MissingDatabase;
use crate::run::inventory::with_state;
use crate::settings::Purpose;

#[derive(Debug, Subcommand)]
#[command(
    after_help = "Examples:\n  balcao inventory analyses list --product 7\n  balcao inventory analyses show 42\n  balcao inventory analyses run 7"
)]
pub(super) enum AnalysesAction {
    /// List analyses, newest first
    List {
        /// Only those of this product
        #[arg(long)]
        product: Option<i64>,
        /// How many to list
        #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(i64).range(1..=10_000))]
        limit: i64,
    },
    /// Show an analysis and its provenance
    Show {
        /// Its number
        id: i64,
    },
    /// Analyse a product now, and show the result
    Run {
        /// The product's number
        product: i64,
    },
}

/// The interval of polling the result while a running service makes the analysis.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

pub(super) fn run(action: &AnalysesAction, common: &Common) -> Result<(), Failure> {
    common.run(Purpose::Any, async |settings| {
        with_state(
            &settings,
            MissingDatabase::Refuse,
            async |state| match *action {
                AnalysesAction::List { product, limit } => list(&state.db, product, limit).await,
                AnalysesAction::Show { id } => show(state, id).await,
                AnalysesAction::Run { product } => analyse(state, product).await,
            },
        )
        .await
    })
}

async fn list(db: &Db, product: Option<i64>, limit: i64) -> Result<(), Failure> {
    let found = analysis::latest(db, product, limit).await;
    let found = found.context("the analyses cannot be read")?;
    for summary in &found {
        console::print(&line(summary))?;
    }
    if found.is_empty() {
        console::print_error("no analyses");
    }
    Ok(())
}

fn line(summary: &AnalysisSummary) -> String {
    let source = match summary.source {
        Source::Formula => "formula",
        Source::Model => "model",
    };
    let made = Locale::En.date_time(summary.created_at);
    let (heading, gist) = (summary.heading(), summary.gist());
    format!("{:>8}  {made}  {source:7}  {heading} | {gist}", summary.id)
}

async fn show(state: &State, id: i64) -> Result<(), Failure> {
    let found = analysis::read(state, id).await;
    match found.context("the analysis cannot be read")? {
        Some(analysis) => console::print(&details(&analysis)),
        None => Err(Failure::new(format!("there is no analysis {id}"))),
    }
}

fn details(analysis: &Analysis) -> String {
    let provenance = &analysis.provenance;
    let mut lines = vec![
        analysis.summary.result.clone(),
        String::new(),
        format!(
            "analysis {} of {}",
            analysis.summary.id,
            Locale::En.date_time(analysis.summary.created_at)
        ),
        format!("text by: {}", provenance.source.name()),
        format!("model's part: {}", provenance.outcome),
        format!("duration: {} ms", provenance.duration_ms),
        format!("digest of the inputs: {}", provenance.inputs_digest),
    ];
    let optional = [
        ("model", provenance.model.clone()),
        ("prompt version", provenance.prompt_version.clone()),
        (
            "prompt tokens",
            provenance.prompt_tokens.map(|count| count.to_string()),
        ),
        (
            "completion tokens",
            provenance.completion_tokens.map(|count| count.to_string()),
        ),
        ("finish reason", provenance.finish_reason.clone()),
        ("requested by", provenance.asked_by.clone()),
    ];
    lines.extend(
        optional
            .into_iter()
            .filter_map(|(name, value)| Some(format!("{name}: {}", value?))),
    );
    lines.push(format!("figures: {}", analysis.figures));
    lines.join("\n")
}

/// Requests an analysis and makes it, or waits for a running service to make it.
async fn analyse(state: &State, product: i64) -> Result<(), Failure> {
    let failed = |error| Failure::of("the product cannot be analysed", &error);
    let before = analysis::request_now(state, "command line", product).await;
    let Some(before) = before.map_err(failed)? else {
        return Err(Failure::new(format!("there is no product {product}")));
    };
    loop {
        let worked = analysis::work_on_product(state, product).await;
        worked.context("the product cannot be analysed")?;
        let status = analysis::status(state, product).await;
        let status = status.context("the analysis cannot be read")?;
        match status.newest {
            Some(newest) if Some(newest) > before.newest => return show(state, newest).await,
            _ if status.phase.is_none() => {
                return Err(Failure::new(format!(
                    "product {product} was deleted meanwhile"
                )));
            }
            _ => tokio::time::sleep(POLL_INTERVAL).await,
        }
    }
}
