//! Runs `pgbench`, PostgreSQL's own benchmark, with the service's statements as a script: the
//! baseline on PostgreSQL.

use std::path::Path;

use tokio::process::Command;

use super::super::load::LoadError;
use super::InventoryArguments;

/// The transactions per second of a script.
///
/// # Errors
///
/// When `pgbench` is missing or the script fails.
pub(super) async fn run(
    arguments: &InventoryArguments,
    folder: &Path,
    address: &str,
    script: &str,
    variables: &[(&str, String)],
) -> Result<f64, LoadError> {
    let file = folder.join("script.sql");
    std::fs::write(&file, script)?;
    let defined = variables
        .iter()
        .flat_map(|(name, value)| ["-D".to_owned(), format!("{name}={value}")]);
    let output = Command::new("pgbench")
        .args(["-n", "-M", "prepared", "-j", "2"])
        .args(["-c", &arguments.connections.to_string()])
        .args(["-T", &arguments.seconds.to_string()])
        .args(defined)
        .arg("-f")
        .arg(&file)
        .arg(address)
        .output()
        .await
        .map_err(|error| format!("pgbench, which comes with PostgreSQL, did not run: {error}"))?;
    let output_text = String::from_utf8_lossy(&output.stdout);
    rate(&output_text).ok_or_else(|| {
        let complaint = String::from_utf8_lossy(&output.stderr);
        format!("pgbench failed: {complaint}").into()
    })
}

/// The rate in `tps = 1234.5 (without initial connection time)`.
fn rate(output_text: &str) -> Option<f64> {
    let line = output_text
        .lines()
        .find_map(|line| line.strip_prefix("tps = "))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_read_from_what_it_says() {
        let output_text =
            "latency average = 1.1 ms\ntps = 28345.250000 (without initial connection time)\n";
        assert_eq!(rate(output_text), Some(28345.25));
        assert_eq!(rate("nothing"), None);
    }
}
