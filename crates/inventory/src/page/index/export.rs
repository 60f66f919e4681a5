//! A list as a CSV file: every page of what is shown, in its order, read a part at a time while the reader takes it.
//! For a spreadsheet of the reader's language: semicolons and decimal commas in Portuguese, commas and decimal points in English, UTF-8
//! with its mark; texts are kept from being run as formulas. The import reads both.

use std::{future::Future, io};

use axum::{
    body::Body,
    response::{IntoResponse as _, Response},
};
use bytes::Bytes;
use csv::{Terminator, WriterBuilder};
use db::Money;
use http::{
    HeaderValue,
    header::{CONTENT_DISPOSITION, CONTENT_TYPE},
};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use web::locale::Locale;

use crate::{rest::Refusal, transfer};

/// Records that are read at once.
const AT_ONCE: i64 = 1000;

/// Which part of a list is read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Batch {
    /// Records before it.
    pub(crate) offset: i64,
    /// The most records in it.
    pub(crate) limit: i64,
}

/// Cells of a file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cells(Locale);

impl Cells {
    /// A text, escaped against formulas.
    pub(crate) fn text(text: &str) -> String {
        transfer::escape(text).into_owned()
    }

    /// A text that may be absent.
    pub(crate) fn optional(text: Option<&str>) -> String {
        text.map(Self::text).unwrap_or_default()
    }

    /// An amount with the decimal mark of the file.
    pub(crate) fn amount(self, amount: Money) -> String {
        super::super::numbers::amount_text(amount, self.0)
    }
}

/// Answers a file of this name with these columns. The first part is read before the answer begins, so that what cannot be read at all
/// is an error page and no broken file.
///
/// # Errors
///
/// Those of `read`.
pub(crate) async fn export<T, R, F>(
    locale: Locale,
    name: &str,
    columns: &[&'static str],
    read: R,
    row: fn(&T, Cells) -> Vec<String>,
) -> Result<Response, Refusal>
where
    T: Send + Sync + 'static,
    R: Fn(Batch) -> F + Send + 'static,
    F: Future<Output = Result<Vec<T>, Refusal>> + Send,
{
    let mut batch = Batch {
        offset: 0,
        limit: AT_ONCE,
    };
    let mut records = read(batch).await?;
    let mut head = vec![0xEF, 0xBB, 0xBF];
    head.extend(written(locale, [columns.to_vec()])?);
    let (sender, receiver) = mpsc::channel::<io::Result<Bytes>>(2);
    tokio::spawn(async move {
        let mut part = head;
        loop {
            let cells = Cells(locale);
            let rows = records.iter().map(|record| row(record, cells));
            let Ok(text) = written(locale, rows) else {
                return;
            };
            part.extend(text);
            // A reader who has gone takes no more.
            if sender.send(Ok(Bytes::from(part))).await.is_err() {
                return;
            }
            if records.len() < usize::try_from(AT_ONCE).unwrap_or(usize::MAX) {
                return;
            }
            part = Vec::new();
            batch.offset += AT_ONCE;
            records = match read(batch).await {
                Ok(records) => records,
                Err(refusal) => {
                    tracing::error!(%refusal, "an export ends early");
                    let broken = io::Error::other("the export cannot be read further");
                    _ = sender.send(Err(broken)).await;
                    return;
                }
            };
        }
    });
    let disposition = format!("attachment; filename=\"{name}.csv\"");
    let disposition =
        HeaderValue::from_str(&disposition).unwrap_or(HeaderValue::from_static("attachment"));
    let headers = [
        (
            CONTENT_TYPE,
            HeaderValue::from_static("text/csv; charset=utf-8"),
        ),
        (CONTENT_DISPOSITION, disposition),
    ];
    Ok((headers, Body::from_stream(ReceiverStream::new(receiver))).into_response())
}

fn written<C: AsRef<[u8]>>(
    locale: Locale,
    rows: impl IntoIterator<Item = Vec<C>>,
) -> Result<Vec<u8>, Refusal> {
    let delimiter = if locale == Locale::PtBr { b';' } else { b',' };
    let mut writer = WriterBuilder::new()
        .delimiter(delimiter)
        .terminator(Terminator::CRLF)
        .from_writer(Vec::new());
    for row in rows {
        writer
            .write_record(row)
            .map_err(|error| Refusal::from(web::Error::internal(error)))?;
    }
    writer
        .into_inner()
        .map_err(|error| Refusal::from(web::Error::internal(error.error().to_string())))
}
