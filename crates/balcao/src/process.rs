//! Process-wide setup: no core dumps, the highest limit of open files, and the async runtime.

use std::io;

/// Forbids core dumps. A dump would contain card numbers of requests in progress.
pub(crate) fn forbid_core_dumps() -> io::Result<()> {
    rlimit::setrlimit(rlimit::Resource::CORE, 0, 0)
}

/// Raises the soft limit of open files to the hard limit, since each connection needs a file.
pub(crate) fn raise_open_files() -> io::Result<()> {
    let (soft, hard) = rlimit::getrlimit(rlimit::Resource::NOFILE)?;
    if soft < hard {
        rlimit::setrlimit(rlimit::Resource::NOFILE, hard, hard)?;
    }
    Ok(())
}

/// The limit of open files. 256, a common minimum, if it cannot be read.
pub(crate) fn open_files() -> u64 {
    rlimit::getrlimit(rlimit::Resource::NOFILE).map_or(256, |(soft, _)| soft)
}

/// The async runtime of the services, with one worker per available core. Databases have their own
/// threads, so few blocking threads are needed.
pub(crate) fn runtime() -> io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .max_blocking_threads(32)
        .thread_name("balcao")
        .build()
}
