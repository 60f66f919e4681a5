//! What concerns the whole process: no core dumps, and the async runtime.

use std::io;

/// Forbids core dumps: a dump would hold card numbers that were in memory for the length of one request.
///
/// # Errors
///
/// When the system refuses the limit, which lowering to zero never meets in practice.
pub(crate) fn forbid_core_dumps() -> io::Result<()> {
    rlimit::setrlimit(rlimit::Resource::CORE, 0, 0)
}

/// The runtime of the services: one worker per core that the process may use. Databases have threads of their own, so few
/// blocking ones are needed.
///
/// # Errors
///
/// When the system gives no threads.
pub(crate) fn runtime() -> io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .max_blocking_threads(32)
        .thread_name("balcao")
        .build()
}
