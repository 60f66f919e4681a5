//! `balcao inventory report`: a summary of the whole shop, or one line per product.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use ::inventory::Config;
use ::inventory::analysis::report::{ReportError, ReportLine, ReportSummary, report};
use clap::{Args, ValueEnum};
use db::Db;
use web::Clock;

use crate::command::common::Common;
use crate::console;
use crate::failure::Failure;
use crate::run::MissingDatabase;
use crate::run::inventory::{config, with_database};
use crate::settings::Purpose;
use crate::stored_files;

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  balcao inventory report\n  balcao inventory report --format csv report.csv\n\nAs text it names classes, coverage, dead stock and overstock; as CSV or JSON it has a line for every product.\nMemory does not grow with the movements. It can be made while the service runs."
)]
pub(super) struct ReportArguments {
    /// Where to write it, instead of standard output
    file: Option<PathBuf>,
    /// Format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people, in the language of `BALCAO_INVENTORY_LANGUAGE`
    Text,
    /// A line for every product
    Csv,
    /// An object with `products` and `summary`
    Json,
}

pub(super) fn run(arguments: &ReportArguments, common: &Common) -> Result<(), Failure> {
    common.run(Purpose::Any, async |settings| {
        if let Some(file) = &arguments.file {
            stored_files::output(&settings, file)?;
        }
        let config = config(&settings);
        with_database(&settings, MissingDatabase::Refuse, async |db| {
            let written = write(db, &config, arguments).await;
            written.map_err(|error| {
                let what = "the report cannot be made";
                match &arguments.file {
                    Some(file) => Failure::of(&format!("{}: {what}", file.display()), &error),
                    None => Failure::of(what, &error),
                }
            })
        })
        .await
    })
}

async fn write(db: &Db, config: &Config, arguments: &ReportArguments) -> Result<(), ReportError> {
    let format = arguments.format;
    let Some(path) = &arguments.file else {
        let mut output = Pipe(BufWriter::new(io::stdout()));
        write_to(&mut output, db, config, format).await?;
        return output.flush().map_err(ReportError::Output);
    };
    let mut output = BufWriter::new(File::create(path)?);
    write_to(&mut output, db, config, format).await?;
    output.flush()?;
    output.get_ref().sync_all().map_err(ReportError::Output)
}

/// Writes the summary as text, or the line of each product as soon as it is read.
async fn write_to(
    output: &mut impl Write,
    db: &Db,
    config: &Config,
    format: Format,
) -> Result<(), ReportError> {
    let now = Clock::system().now();
    if format == Format::Text {
        let summary = report(db, config, now, |_| Ok(())).await?;
        let text = console::escaped(&summary.text(config.language));
        return writeln!(output, "{text}").map_err(ReportError::Output);
    }
    if format == Format::Csv {
        let mut table = csv::Writer::from_writer(output);
        let written = |result: csv::Result<()>| result.map_err(io::Error::other);
        written(table.write_record(ReportLine::COLUMNS))?;
        report(db, config, now, |line| {
            written(table.write_record(line.cells()))
        })
        .await?;
        return table.flush().map_err(ReportError::Output);
    }
    output.write_all(b"{\"products\":[")?;
    let mut separator = "\n";
    let summary: ReportSummary = report(db, config, now, |line| {
        output.write_all(separator.as_bytes())?;
        separator = ",\n";
        serde_json::to_writer(&mut *output, line).map_err(io::Error::from)
    })
    .await?;
    output.write_all(b"\n],\"summary\":")?;
    serde_json::to_writer(&mut *output, &summary).map_err(io::Error::from)?;
    output.write_all(b"}\n").map_err(ReportError::Output)
}

/// Standard output, where a closed pipe (`… | head`) is not a failure.
struct Pipe(BufWriter<io::Stdout>);

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.0.write(bytes) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(bytes.len()),
            written => written,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.0.flush() {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            flushed => flushed,
        }
    }
}
