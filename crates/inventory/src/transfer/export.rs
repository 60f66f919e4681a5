//! Exports a resource to a file: one snapshot, in the order of ids, in batches of 1000 records. The
//! file is written under a temporary name and renamed when it is complete.

use std::{
    ffi::OsString,
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::Mutex,
};

use csv::{Terminator, Writer, WriterBuilder};
use db::{Conn, Db, lock_mutex};

use super::{FileKind, Progress, column, record};

/// Why an export failed.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The file cannot be written.
    #[error("the file cannot be written")]
    File(#[from] io::Error),
    /// The database failed.
    #[error("the records cannot be read")]
    Database(#[from] db::Error),
}

/// Records in memory at once.
const AT_ONCE: i64 = 1000;

/// Writes every record of a resource to `file`, replacing it. Returns the number of records. After
/// an error, the previous file is unchanged.
pub async fn export(
    db: &Db,
    resource: FileKind,
    file: &Path,
    progress: Progress,
) -> Result<u64, ExportError> {
    let partial = partial_path(file);
    let written_count = {
        let partial = partial.clone();
        db.report(async move |conn| {
            let (count, file) = write(conn, resource, File::create(&partial)?, &progress).await?;
            file.sync_all()?;
            Ok::<_, ExportError>(count)
        })
        .await
    };
    let result = written_count.and_then(|count| {
        fs::rename(&partial, file)?;
        sync_folder(file)?;
        Ok(count)
    });
    if result.is_err() {
        // An incomplete export is useless. A failure to delete it would not add to the error.
        _ = fs::remove_file(&partial);
    }
    result
}

/// Writes every record of a resource to `sink`, in the format of [`export`]. Returns the number of
/// records. After an error, a part may have been written.
pub async fn export_to(
    db: &Db,
    resource: FileKind,
    sink: impl Write + Send + 'static,
    progress: Progress,
) -> Result<u64, ExportError> {
    let sink = Mutex::new(Some(sink));
    db.report(async move |conn| {
        let first_use = lock_mutex(&sink).take();
        // After a lost connection the job is retried, but the written part cannot be undone.
        let sink = first_use.ok_or_else(|| db::Error::other("the export was interrupted"))?;
        let (count, _) = write(conn, resource, sink, &progress).await?;
        Ok(count)
    })
    .await
}

/// The number of records of a resource.
pub async fn count(db: &Db, resource: FileKind) -> Result<u64, db::Error> {
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
        .from_writer(sink);
    let names = column::exported(resource).map(|column| column.name);
    put(&mut writer, names)?;
    let (mut last, mut count) = (0, 0);
    loop {
        let rows = record::after(conn, resource, last, AT_ONCE).await?;
        let Some((end, _)) = rows.last() else { break };
        last = *end;
        for (_, cells) in &rows {
            put(&mut writer, cells)?;
        }
        count += rows.len() as u64;
        progress(rows.len() as u64);
    }
    let sink = writer.into_inner().map_err(|error| {
        let error = error.error();
        io::Error::new(error.kind(), error.to_string())
    })?;
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

fn partial_path(file: &Path) -> PathBuf {
    let mut name: OsString = file.as_os_str().to_owned();
    name.push(".partial");
    PathBuf::from(name)
}

/// Flushes the directory entry, so that the rename survives a crash.
fn sync_folder(file: &Path) -> io::Result<()> {
    let folder = file
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()
}
