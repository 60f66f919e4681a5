//! Exports a list as a CSV file: all matching records in the list's order, read from one snapshot.
//! The format suits spreadsheets in the user's language: semicolons and decimal commas in
//! Portuguese, commas and decimal points in English, UTF-8 with a byte order mark. Texts are
//! escaped so that spreadsheets do not run them as formulas. The import accepts both formats.

use std::sync::Mutex;

use axum::{
    body::Body,
    response::{IntoResponse as _, Response},
};
use csv::{Terminator, Writer, WriterBuilder};
use db::{Conn, Error, lock_mutex};
use http::{
    HeaderName, HeaderValue,
    header::{CONTENT_DISPOSITION, CONTENT_TYPE},
};
use resource::{Field, Record};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use web::{
    locale::Locale,
    rate::{Key, Period, Rate},
};

use super::spool::{self, SpoolWriter};
use crate::{
    api::gate,
    page::{Frame, value::FieldValue},
    rest::Refusal,
    transfer,
};

/// The number of bytes that are buffered before a write.
const BUFFER_BYTES: usize = 64 * 1024;

/// The rate limit of exports for each user. An export may read a whole table.
const FILES: Rate = Rate::new(20, Period::Minute);

/// The byte order mark of UTF-8, by which spreadsheets recognize the encoding.
const MARK: [u8; 3] = [0xEF, 0xBB, 0xBF];

/// A CSV file that is being written row by row.
pub(crate) struct ExportFile {
    locale: Locale,
    columns: Vec<String>,
    rows: Mutex<ExportRows>,
}

struct ExportRows {
    writer: Writer<Vec<u8>>,
    buffered: usize,
    file: SpoolWriter,
}

impl ExportFile {
    fn new(locale: Locale, columns: Vec<String>, file: SpoolWriter) -> Self {
        let rows = ExportRows {
            writer: writer(locale),
            buffered: 0,
            file,
        };
        Self {
            locale,
            columns,
            rows: Mutex::new(rows),
        }
    }

    /// Writes one row.
    ///
    /// # Errors
    ///
    /// When the client has gone, or the temporary file cannot be written.
    pub(crate) fn row(&self, cells: impl IntoIterator<Item = FieldValue>) -> Result<(), Error> {
        let cells: Vec<_> = in_file(cells, self.locale).collect();
        let mut rows = lock_mutex(&self.rows);
        rows.add(&cells)?;
        if rows.buffered >= BUFFER_BYTES {
            rows.flush(self.locale)?;
        }
        Ok(())
    }

    /// Writes the row of a described record; the columns are those of [`headings`].
    pub(crate) fn record(&self, record: &impl Record) -> Result<(), Error> {
        let values = record.values().into_iter();
        let values = values.filter(|(field, _)| !field.is_hidden);
        self.row(values.map(|(field, value)| FieldValue::of(field, value)))
    }

    /// Writes the header row. Called again when the database read is retried, which fails once a
    /// part of the file may have been sent.
    fn begin(&self) -> Result<(), Error> {
        let mut rows = lock_mutex(&self.rows);
        if rows.file.has_begun() {
            return Err(Error::other("the export was interrupted"));
        }
        rows.writer = writer(self.locale);
        rows.buffered = 0;
        rows.add(&self.columns)
    }

    fn finish(&self) -> Result<(), Error> {
        let mut rows = lock_mutex(&self.rows);
        rows.flush(self.locale)?;
        rows.file.finish();
        Ok(())
    }
}

impl ExportRows {
    fn add<C: AsRef<[u8]>>(&mut self, cells: &[C]) -> Result<(), Error> {
        self.buffered += cells.iter().map(|cell| cell.as_ref().len()).sum::<usize>();
        let written = self.writer.write_record(cells);
        written.map_err(|error| Error::other(error.to_string()))
    }

    fn flush(&mut self, locale: Locale) -> Result<(), Error> {
        let mut bytes = Vec::new();
        if !self.file.has_begun() {
            bytes.extend(MARK);
        }
        let full = std::mem::replace(&mut self.writer, writer(locale));
        let content = full.into_inner();
        bytes.extend(content.map_err(|error| Error::other(error.error().to_string()))?);
        self.buffered = 0;
        let written = self.file.write(&bytes);
        written.map_err(|error| Error::other(error.to_string()))
    }
}

fn writer(locale: Locale) -> Writer<Vec<u8>> {
    WriterBuilder::new()
        .delimiter(if locale == Locale::PtBr { b';' } else { b',' })
        .terminator(Terminator::CRLF)
        .from_writer(Vec::new())
}

/// The column headings of described records, in the user's language.
pub(crate) fn headings(frame: &Frame, fields: &[&'static Field]) -> Vec<&'static str> {
    let shown = fields.iter().filter(|field| !field.is_hidden);
    shown
        .map(|field| transfer::heading(field, frame.locale))
        .collect()
}

/// Responds with a file of these columns; `read` writes the rows. The response starts only after
/// the first bytes, so that an early failure is an error page and not a broken file.
///
/// # Errors
///
/// The errors of `read`, and a scratch directory that is not writable.
pub(crate) async fn export<F>(
    frame: &Frame,
    name: &str,
    columns: &[impl AsRef<str>],
    read: F,
) -> Result<Response, Refusal>
where
    F: AsyncFn(&mut Conn, &ExportFile) -> Result<(), Refusal> + Send + 'static,
{
    let state = frame.state.clone();
    let spool_name = format!("export-{}.partial", state.random.uuid());
    let opened = spool::open(&state.config.scratch, &spool_name);
    let columns = columns.iter().map(|column| column.as_ref().to_owned());
    let columns = columns.collect();
    let (writing, mut sending) = opened.map_err(web::Error::internal)?;
    let file = ExportFile::new(frame.locale, columns, writing);
    let written = tokio::spawn(async move {
        let write = async move |conn: &mut Conn| {
            file.begin()?;
            read(conn, &file).await?;
            Ok::<_, Refusal>(file.finish()?)
        };
        let written = state.db.report(write).await;
        if let Err(refusal) = &written {
            tracing::warn!(%refusal, "an export ended early: the file that the browser has is incomplete");
        }
        written
    });
    if !sending.has_begun().await {
        let ended = written.await.map_err(web::Error::internal)?;
        let unfinished = || web::Error::internal("the export has no end").into();
        return Err(ended.err().unwrap_or_else(unfinished));
    }
    let (sender, receiver) = mpsc::channel(2);
    tokio::spawn(sending.send(sender));
    let body = Body::from_stream(ReceiverStream::new(receiver));
    Ok((headers(name), body).into_response())
}

/// Counts an export against the rate limit of the user.
///
/// # Errors
///
/// 429 for too many exports.
pub(crate) async fn limit_exports(frame: &Frame) -> Result<(), Refusal> {
    let key = Key::new("inventory:exports", frame.caller.id.to_string());
    gate::take(&frame.state, &key, &FILES.into()).await?;
    Ok(())
}

fn in_file(
    cells: impl IntoIterator<Item = FieldValue>,
    locale: Locale,
) -> impl Iterator<Item = String> {
    cells.into_iter().map(move |cell| cell.in_file(locale))
}

/// Responds with a file of rows that are in memory.
pub(crate) fn file_of_rows(
    frame: &Frame,
    name: &str,
    columns: &[&str],
    rows: impl IntoIterator<Item = Vec<FieldValue>>,
) -> Response {
    let (locale, mut writer) = (frame.locale, writer(frame.locale));
    let written = writer.write_record(columns);
    let mut rows = rows.into_iter();
    let mut write = |row| writer.write_record(in_file(row, locale));
    let written = written.and_then(|()| rows.try_for_each(&mut write));
    let written = written.map_err(web::Error::internal);
    let bytes = written.and_then(|()| writer.into_inner().map_err(web::Error::internal));
    match bytes {
        Ok(bytes) => (headers(name), [&MARK[..], &bytes].concat()).into_response(),
        Err(error) => error.into_response(),
    }
}

/// The headers of a CSV download.
fn headers(name: &str) -> [(HeaderName, HeaderValue); 2] {
    let disposition = format!("attachment; filename=\"{name}.csv\"");
    let disposition =
        HeaderValue::from_str(&disposition).unwrap_or(HeaderValue::from_static("attachment"));
    let kind = HeaderValue::from_static("text/csv; charset=utf-8");
    [(CONTENT_TYPE, kind), (CONTENT_DISPOSITION, disposition)]
}
