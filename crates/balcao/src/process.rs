//! Settings of the whole process: no core dumps, the highest limit of open files, and the async
//! runtime.

use std::io;

/// Forbids core dumps: a dump would hold card numbers that were in memory for the length of one
/// request.
pub(crate) fn forbid_core_dumps() -> io::Result<()> {
    rlimit::setrlimit(rlimit::Resource::CORE, 0, 0)
}

/// Raises the limit of open files as far as the system lets us: each connection takes one.
pub(crate) fn raise_open_files() -> io::Result<()> {
    let (soft, hard) = rlimit::getrlimit(rlimit::Resource::NOFILE)?;
    if soft < hard {
        rlimit::setrlimit(rlimit::Resource::NOFILE, hard, hard)?;
    }
    Ok(())
}

/// How many files may be open at once; the lowest that systems allow, where it is not known.
pub(crate) fn open_files() -> u64 {
    rlimit::getrlimit(rlimit::Resource::NOFILE).map_or(256, |(soft, _)| soft)
}

/// The runtime of the services: one worker per core that the process may use. Databases have
/// threads of their own, so few blocking ones are needed.
pub(crate) fn runtime() -> io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .max_blocking_threads(32)
        .thread_name("balcao")
        .build()
}
