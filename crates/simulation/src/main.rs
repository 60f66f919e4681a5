//! Runs simulated shops: `cargo run --release -p simulation -- --seeds 1000000`. Prints the trace
//! of a failing seed and exits with 1.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;
use simulation::Simulator;

/// Simulates payments, one shop for each seed, and checks what must hold.
#[derive(Parser)]
struct Arguments {
    /// How many seeds to run.
    #[arg(long, default_value_t = 10_000)]
    seeds: u64,
    /// The first of them. With `--seeds 1` the seed whose trace is to be read.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print what happens, also where nothing is wrong.
    #[arg(long)]
    trace: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match run(&arguments) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            let _ = writeln!(io::stderr(), "{error}");
            ExitCode::FAILURE
        }
    }
}

/// The number of failed seeds.
fn run(arguments: &Arguments) -> Result<usize, Box<dyn std::error::Error>> {
    let seeds = arguments.seed..arguments.seed.saturating_add(arguments.seeds);
    let mut out = io::stdout();
    if arguments.trace {
        for seed in seeds.clone() {
            for line in Simulator::new()?.run(seed, true)?.trace {
                writeln!(out, "{line}")?;
            }
        }
    }
    let failed = simulation::search(seeds, |done| {
        if done.is_multiple_of(10_000) {
            let _ = writeln!(io::stderr(), "{done} seeds");
        }
    })?;
    for (seed, violations) in &failed {
        writeln!(out, "seed {seed}: {}", violations.join("; "))?;
    }
    if let (Some((seed, _)), false) = (failed.first(), arguments.trace) {
        for line in Simulator::new()?.run(*seed, true)?.trace {
            writeln!(out, "{line}")?;
        }
    }
    writeln!(out, "{} seeds, {} failed", arguments.seeds, failed.len())?;
    Ok(failed.len())
}
