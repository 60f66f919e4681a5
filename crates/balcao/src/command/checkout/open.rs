//! `balcao checkout open`: lists the payments and refunds of unknown outcome. Makes no call to the
//! provider.

use ::checkout::reconcile::{self, UnknownOutcome};
use db::{Db, Timestamp};
use web::Clock;

use crate::command::common::Common;
use crate::console;
use crate::failure::{Context, Failure};
use crate::run::MissingDatabase;
use crate::run::checkout::with_database;
use crate::settings::Purpose;

pub(super) fn run(common: &Common) -> Result<(), Failure> {
    common.run(Purpose::Any, async |settings| {
        with_database(&settings, MissingDatabase::Refuse, list).await
    })
}

async fn list(db: &Db) -> Result<(), Failure> {
    let open = reconcile::unknown_outcomes(db)
        .await
        .context("the payments cannot be read")?;
    let now = Clock::system().now();
    for question in &open {
        console::print(&line(question, now))?;
    }
    if open.is_empty() {
        console::print_error("no payment or refund has an unknown outcome");
    } else {
        console::print_error(
            "`balcao checkout reconcile` asks the provider about them now; what it does not know an hour after it was sent is closed",
        );
    }
    Ok(())
}

fn line(open: &UnknownOutcome, now: Timestamp) -> String {
    let answer = open.last_answer.as_deref();
    format!(
        "{}  {}  {}  {}  {}",
        open.reference,
        open.kind,
        open.amount,
        age(open.since, now),
        answer.unwrap_or("no answer yet")
    )
}

/// The age in its two largest units: days and hours, hours and minutes, or minutes.
fn age(since: Timestamp, now: Timestamp) -> String {
    let minutes = now.since(since).as_secs() / 60;
    let (days, hours) = (minutes / 1440, minutes / 60 % 24);
    match (days, hours) {
        (0, 0) => format!("{minutes}m"),
        (0, hours) => format!("{hours}h {}m", minutes % 60),
        (days, hours) => format!("{days}d {hours}h"),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn an_age_has_its_two_largest_units() {
        let since = Timestamp::from_micros(0);
        for (minutes, text) in [
            (0, "0m"),
            (59, "59m"),
            (61, "1h 1m"),
            (1439, "23h 59m"),
            (73 * 60, "3d 1h"),
        ] {
            assert_eq!(age(since, since + Duration::from_mins(minutes)), text);
        }
    }
}
