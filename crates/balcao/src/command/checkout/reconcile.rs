//! `balcao checkout reconcile`: runs the reconciler once, now.

use ::checkout::State;
use ::checkout::reconcile::{self, Finding, Scope};

use crate::command::common::Common;
use crate::console;
use crate::failure::{Context, Failure};
use crate::run::checkout::with_state;
use crate::settings::Purpose;

pub(super) fn run(common: &Common) -> Result<(), Failure> {
    common.run(Purpose::Any, async |settings| {
        with_state(&settings, reconcile).await
    })
}

async fn reconcile(state: &State) -> Result<(), Failure> {
    let report = reconcile::run_once(state, Scope::All)
        .await
        .context("the payments cannot be read")?;
    for line in &report.lines {
        console::print(&line.to_string())?;
    }
    console::print(&format!(
        "{} asked about, {} still of unknown outcome",
        report.lines.len(),
        report.unknown
    ))?;
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
