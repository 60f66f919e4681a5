//! `balcao bench`: measures this machine.

use super::common::Common;
use crate::failure::Failure;
use crate::settings::Purpose;

pub(super) fn run(arguments: ::bench::BenchArguments, common: &Common) -> Result<(), Failure> {
    let failed = |error: ::bench::LoadError| Failure::of("the measurement failed", error.as_ref());
    common.run(Purpose::Any, async |_| {
        ::bench::run(arguments).await.map_err(failed)
    })
}
