//! `balcao checkout reconcile`: runs the reconciler once, now.

use ::checkout::reconcile::{self, Finding, Scope};

use crate::command::{Common, Failure, with_runtime};
use crate::console;
use crate::run::{Run, checkout};
use crate::settings::{Purpose, Services, Settings};

pub(super) fn run(common: &Common) -> Result<(), Failure> {
    let (settings, warnings) = common.settings(Purpose::Serve(Services {
        checkout: true,
        inventory: false,
    }))?;
    with_runtime(&settings, &warnings, ask(&settings))
}

async fn ask(settings: &Settings) -> Result<(), Failure> {
    let run = Run::new(settings)?;
    let (state, db) = checkout::open(&run, settings).await?;
    let asked = reconcile::run_once(&state, Scope::All).await;
    drop(state);
    db.close().await;
    let report = asked.map_err(|error| Failure::of("the payments cannot be read", &error))?;
    for line in &report.lines {
        console::say(&line.to_string());
    }
    console::say(&format!(
        "{} asked about, {} still of unknown outcome",
        report.lines.len(),
        report.unknown
    ));
    let failed = report
        .lines
        .iter()
        .filter(|line| matches!(line.finding, Finding::Failed(_) | Finding::Quota(_)))
        .count();
    if failed > 0 {
        Err(Failure::new(format!(
            "the provider did not answer for {failed} of them; try again later"
        )))
    } else {
        Ok(())
    }
}
