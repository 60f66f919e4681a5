//! `balcao`: the program around the services: command line, configuration, start and stop. It has
//! no business rules.
//!
//! `command` has the commands, `run` runs the services, `settings` has the configuration, `logs`
//! the log, and `process` the limits of the process. Only this crate reads the environment.

mod archive;
mod command;
mod console;
mod data_folder;
mod failure;
mod logs;
mod process;
mod progress;
mod run;
mod settings;
mod stored_files;

use std::process::ExitCode;

use mimalloc::MiMalloc;
use zeroizing_alloc::ZeroAlloc;

/// Zeroes all memory when it is freed: card data, passwords and keys, also in HTTP and TLS buffers.
#[global_allocator]
static ALLOCATOR: ZeroAlloc<MiMalloc> = ZeroAlloc(MiMalloc);

fn main() -> ExitCode {
    command::run()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs::File;
    use std::os::unix::fs::FileExt as _;

    #[test]
    fn memory_is_wiped_when_it_is_given_back() {
        let secret = vec![0xa5_u8; 4096];
        let address = u64::try_from(secret.as_ptr().addr()).unwrap();
        drop(secret);
        let mut left = vec![0; 4096];
        // Unmapped memory cannot be read.
        let memory = File::open("/proc/self/mem").unwrap();
        let read = memory.read_at(&mut left, address).unwrap_or(0);
        assert!(!left[..read].windows(8).any(|bytes| bytes == [0xa5; 8]));
    }
}
