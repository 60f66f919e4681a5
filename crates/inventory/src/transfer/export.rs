//! Writing a resource to a file: one snapshot, in the order of ids, a thousand records at a time;
//! written under a temporary name and renamed when it is complete.

use std::{
    ffi::OsString,
    fs::{self, File},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use csv::{Terminator, Writer, WriterBuilder};
use db::{Conn, Db};

use super::{FileKind, Progress, column, record};
use crate::rest::Refusal;

/// Why there is no file.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// It cannot be written.
    #[error("the file cannot be written")]
    File(#[from] io::Error),
    /// The store failed.
    #[error("the records cannot be read")]
    Database(#[from] db::Error),
}

/// Records that are held in memory at once.
const AT_ONCE: i64 = 1000;

/// Writes every record of a resource to `file`, replacing it, and answers how many there are.
///
/// # Errors
///
/// [`ExportError`]; what stood in the file before stays then.
pub async fn export(
    db: &Db,
    resource: FileKind,
    file: &Path,
    progress: Progress,
) -> Result<u64, ExportError> {
    let partial = beside(file);
    let written = {
        let partial = partial.clone();
        db.report(async move |conn| {
            let (count, file) = write(conn, resource, File::create(&partial)?, &progress).await?;
            file.sync_all()?;
            Ok::<_, ExportError>(count)
        })
        .await
    };
    let done = written.and_then(|count| {
        fs::rename(&partial, file)?;
        sync_folder(file)?;
        Ok(count)
    });
    if done.is_err() {
        // Half of an export is of no use; that it cannot be removed either adds nothing to the
        // error.
        _ = fs::remove_file(&partial);
    }
    done
}

/// Writes every record of a resource to `sink`, as the file of [`export`] has them, and answers how
/// many there are.
///
/// # Errors
///
/// [`ExportError`]; a part may have been written then.
pub async fn export_to(
    db: &Db,
    resource: FileKind,
    sink: impl Write + Send + 'static,
    progress: Progress,
) -> Result<u64, ExportError> {
    let sink = Mutex::new(Some(sink));
    db.report(async move |conn| {
        let taken = sink.lock().unwrap_or_else(PoisonError::into_inner).take();
        // A connection that is lost begins its job again, but what was written cannot be taken
        // back.
        let sink = taken.ok_or_else(|| db::Error::other("the export was interrupted"))?;
        let (count, _) = write(conn, resource, sink, &progress).await?;
        Ok(count)
    })
    .await
}

/// How many records a resource has.
pub async fn count(db: &Db, resource: FileKind) -> Result<u64, Refusal> {
    db.report(async move |conn| record::count(conn, resource).await)
        .await
}

async fn write<W: Write>(
    conn: &mut Conn,
    resource: FileKind,
    sink: W,
    progress: &Progress,
) -> Result<(u64, W), ExportError> {
    let mut writer = WriterBuilder::new()
        .terminator(Terminator::CRLF)
        .from_writer(BufWriter::new(sink));
    put(
        &mut writer,
        column::exported(resource).map(|column| column.name),
    )?;
    let (mut last, mut count) = (0, 0);
    loop {
        let rows = record::after(conn, resource, last, AT_ONCE).await?;
        let Some(end) = rows.last() else { break };
        last = end.id;
        for row in &rows {
            put(&mut writer, &row.cells)?;
        }
        count += rows.len() as u64;
        progress(rows.len() as u64);
    }
    let buffered = writer.into_inner().map_err(|error| {
        let error = error.error();
        io::Error::new(error.kind(), error.to_string())
    })?;
    let sink = buffered
        .into_inner()
        .map_err(io::IntoInnerError::into_error)?;
    Ok((count, sink))
}

fn put<C: AsRef<[u8]>>(
    writer: &mut Writer<impl Write>,
    cells: impl IntoIterator<Item = C>,
) -> io::Result<()> {
    writer
        .write_record(cells)
        .map_err(|error| match error.into_kind() {
            csv::ErrorKind::Io(error) => error,
            other => io::Error::other(format!("{other:?}")),
        })
}

fn beside(file: &Path) -> PathBuf {
    let mut name: OsString = file.as_os_str().to_owned();
    name.push(".partial");
    PathBuf::from(name)
}

/// Makes the rename last: the folder's own entry is written too.
fn sync_folder(file: &Path) -> io::Result<()> {
    let folder = file
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()
}
