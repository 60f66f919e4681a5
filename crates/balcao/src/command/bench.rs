//! `balcao bench`: measures this machine.

pub(crate) use ::bench::Arguments;

use super::{Common, Failure, with_runtime};
use crate::settings::Purpose;

/// Runs the command.
///
/// # Errors
///
/// When a process does not start or requests fail.
pub(crate) fn run(arguments: Arguments, common: &Common) -> Result<(), Failure> {
    let (settings, warnings) = common.settings(Purpose::Any)?;
    let failed = |error: ::bench::LoadError| Failure::of("the measurement failed", error.as_ref());
    let measured = async { ::bench::run(arguments).await.map_err(failed) };
    with_runtime(&settings, &warnings, measured)
}
