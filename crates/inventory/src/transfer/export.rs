//! Writing a resource to a file: one snapshot, in the order of ids, a thousand records at a time; written under a temporary name and renamed when
//! it is complete.

use std::{
    ffi::OsString,
    fs::{self, File},
    io::{self, BufWriter, Write as _},
    path::{Path, PathBuf},
};

use csv::{Terminator, Writer, WriterBuilder};
use db::{Conn, Db};

use super::{Progress, Resource, column, record};
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
    resource: Resource,
    file: &Path,
    progress: Progress,
) -> Result<u64, ExportError> {
    let partial = beside(file);
    let written = {
        let partial = partial.clone();
        db.report(async move |conn| write(conn, resource, &partial, &progress).await)
            .await
    };
    let done = written.and_then(|count| {
        fs::rename(&partial, file)?;
        sync_folder(file)?;
        Ok(count)
    });
    if done.is_err() {
        // Half of an export is of no use; that it cannot be removed either adds nothing to the error.
        _ = fs::remove_file(&partial);
    }
    done
}

/// How many records a resource has.
///
/// # Errors
///
/// Faults of the store.
pub async fn count(db: &Db, resource: Resource) -> Result<u64, Refusal> {
    db.report(async move |conn| record::count(conn, resource).await)
        .await
}

async fn write(
    conn: &mut Conn,
    resource: Resource,
    partial: &Path,
    progress: &Progress,
) -> Result<u64, ExportError> {
    let mut writer = WriterBuilder::new()
        .terminator(Terminator::CRLF)
        .from_writer(BufWriter::new(File::create(partial)?));
    let columns = column::exported(resource);
    put(&mut writer, columns.iter().map(|column| column.name))?;
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
    let mut buffered = writer.into_inner().map_err(|error| {
        let error = error.error();
        io::Error::new(error.kind(), error.to_string())
    })?;
    buffered.flush()?;
    buffered.get_ref().sync_all()?;
    Ok(count)
}

fn put<C: AsRef<[u8]>>(
    writer: &mut Writer<BufWriter<File>>,
    cells: impl IntoIterator<Item = C>,
) -> io::Result<()> {
    writer.write_record(cells).map_err(io::Error::from)
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
