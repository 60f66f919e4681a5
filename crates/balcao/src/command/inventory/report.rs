//! `balcao inventory report`: the whole shop at a glance, or product by product.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use ::inventory::analysis::report::{Line, Order, ReportError, ReportSummary, report};
use clap::{Args, ValueEnum};
use db::Db;
use web::Clock;
use web::locale::Locale;

use crate::command::{Common, Failure, with_runtime};
use crate::console;
use crate::run::inventory::{config, open_database};
use crate::settings::{Purpose, Settings};

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  balcao inventory report\n  balcao inventory report --format csv report.csv\n\nAs text it names classes, coverage, dead stock and overstock; as CSV or JSON it has a line for every product.\nMemory does not grow with the movements. It can be made while the service runs."
)]
pub(super) struct Arguments {
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

pub(super) fn run(arguments: Arguments, common: &Common) -> Result<(), Failure> {
    let (settings, warnings) = common.settings(Purpose::Any)?;
    with_runtime(&settings, &warnings, act(arguments, &settings))
}

async fn act(arguments: Arguments, settings: &Settings) -> Result<(), Failure> {
    let config = config(settings);
    let order = Order::new(&config, Clock::system().now());
    let (db, _) = open_database(settings).await?;
    let written = write(&db, &order, &arguments, config.language).await;
    db.close().await;
    let what = match &arguments.file {
        Some(file) => format!("{}: the report cannot be made", file.display()),
        None => "the report cannot be made".to_owned(),
    };
    written.map_err(|error| Failure::of(&what, &error))
}

async fn write(
    db: &Db,
    order: &Order,
    arguments: &Arguments,
    language: Locale,
) -> Result<(), ReportError> {
    let Some(path) = &arguments.file else {
        if arguments.format == Format::Text {
            let summary = report(db, order, |_| Ok(())).await?;
            console::say(&summary.text(language));
            return Ok(());
        }
        let mut output = Pipe(BufWriter::new(io::stdout()));
        lines(db, order, arguments.format, &mut output).await?;
        return output.flush().map_err(ReportError::Output);
    };
    let mut output = BufWriter::new(File::create(path)?);
    if arguments.format == Format::Text {
        let summary = report(db, order, |_| Ok(())).await?;
        writeln!(output, "{}", summary.text(language))?;
    } else {
        lines(db, order, arguments.format, &mut output).await?;
    }
    output.flush()?;
    output.get_ref().sync_all().map_err(ReportError::Output)
}

/// Every product's line, as it is read.
async fn lines(
    db: &Db,
    order: &Order,
    format: Format,
    output: &mut impl Write,
) -> Result<(), ReportError> {
    if format == Format::Csv {
        let mut table = csv::Writer::from_writer(output);
        let written = |result: csv::Result<()>| result.map_err(io::Error::other);
        written(table.write_record(Line::COLUMNS))?;
        report(db, order, |line| written(table.write_record(line.cells()))).await?;
        return table.flush().map_err(ReportError::Output);
    }
    output.write_all(b"{\"products\":[")?;
    let mut separator = "\n";
    let summary: ReportSummary = report(db, order, |line| {
        output.write_all(separator.as_bytes())?;
        separator = ",\n";
        serde_json::to_writer(&mut *output, line).map_err(io::Error::from)
    })
    .await?;
    output.write_all(b"\n],\"summary\":")?;
    serde_json::to_writer(&mut *output, &summary).map_err(io::Error::from)?;
    output.write_all(b"}\n").map_err(ReportError::Output)
}

/// Standard output, whose reader may have gone away (`… | head`): that is no failure.
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
