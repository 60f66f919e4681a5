//! A temporary file between the database and a slow client. One end is written as fast as the
//! database delivers; the other is sent as fast as the client reads. So a snapshot is held only
//! while the database is read, and memory use does not depend on the file's size. The file is
//! unlinked right after it is opened; its space is freed when both ends are closed.

use std::{
    fs::{self, File},
    io::{self, Write as _},
    path::Path,
};

use bytes::Bytes;
use tokio::{
    io::AsyncReadExt as _,
    sync::{mpsc, watch},
};

/// The most bytes that are sent at once.
const PART: usize = 64 * 1024;

/// The state of the writing end.
#[derive(Debug, Clone, Copy, Default)]
struct SpoolProgress {
    length: u64,
    is_whole: bool,
}

/// The writing end. Dropping it before `finish` marks the file as failed.
#[derive(Debug)]
pub(super) struct SpoolWriter {
    file: File,
    progress: watch::Sender<SpoolProgress>,
}

#[derive(Debug)]
pub(super) struct SpoolReader {
    file: File,
    progress: watch::Receiver<SpoolProgress>,
}

/// Creates a spool file in `folder`. `name` must be unique.
pub(super) fn open(folder: &Path, name: &str) -> io::Result<(SpoolWriter, SpoolReader)> {
    let path = folder.join(name);
    let writing = File::create_new(&path)?;
    let sending = File::open(&path);
    fs::remove_file(&path)?;
    let (sender, receiver) = watch::channel(SpoolProgress::default());
    let writer = SpoolWriter {
        file: writing,
        progress: sender,
    };
    let reader = SpoolReader {
        file: sending?,
        progress: receiver,
    };
    Ok((writer, reader))
}

impl SpoolWriter {
    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.progress.is_closed() {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        self.file.write_all(bytes)?;
        self.progress
            .send_modify(|written| written.length += bytes.len() as u64);
        Ok(())
    }

    /// Whether anything has been written, and so may have been sent.
    pub(super) fn has_begun(&self) -> bool {
        self.progress.borrow().length > 0
    }

    pub(super) fn finish(&mut self) {
        self.progress.send_modify(|written| written.is_whole = true);
    }
}

impl SpoolReader {
    /// Waits for the first bytes or the end. False if writing has failed.
    pub(super) async fn has_begun(&mut self) -> bool {
        let begun = |written: &SpoolProgress| written.length > 0 || written.is_whole;
        self.progress.wait_for(begun).await.is_ok()
    }

    /// Sends the whole file. Stops when the receiver is dropped.
    pub(super) async fn send(self, reader: mpsc::Sender<io::Result<Bytes>>) {
        if let Err(error) = self.send_parts(&reader).await {
            _ = reader.send(Err(error)).await;
        }
    }

    async fn send_parts(mut self, reader: &mpsc::Sender<io::Result<Bytes>>) -> io::Result<()> {
        let mut file = tokio::fs::File::from_std(self.file);
        let mut sent = 0;
        loop {
            let is_more = |written: &SpoolProgress| written.length > sent || written.is_whole;
            let written = self.progress.wait_for(is_more).await;
            let length = written
                .map(|written| written.length)
                .map_err(|_| io::Error::other("the file cannot be written further"))?;
            if length == sent {
                return Ok(());
            }
            let length = usize::try_from(length - sent).map_or(PART, |left| left.min(PART));
            let mut part = vec![0; length];
            file.read_exact(&mut part).await?;
            sent += part.len() as u64;
            if reader.send(Ok(part.into())).await.is_err() {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn all(sending: SpoolReader) -> io::Result<Vec<u8>> {
        let (sender, mut receiver) = mpsc::channel(1);
        let sent = tokio::spawn(sending.send(sender));
        let mut whole = Vec::new();
        while let Some(part) = receiver.recv().await {
            whole.extend(part?);
        }
        sent.await.map_err(io::Error::other)?;
        Ok(whole)
    }

    #[tokio::test]
    async fn what_is_written_arrives_while_more_is_written_and_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let (mut writing, mut sending) = open(folder.path(), "export").unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        writing.write(b"first ").unwrap();
        assert!(sending.has_begun().await);
        let received = tokio::spawn(all(sending));
        let large = vec![b'x'; 3 * PART + 1];
        writing.write(&large).unwrap();
        writing.finish();
        let received = received.await.unwrap().unwrap();
        assert_eq!(received, [b"first ".as_slice(), &large].concat());
    }

    #[tokio::test]
    async fn a_file_that_is_not_finished_is_a_failure_for_its_reader() {
        let folder = tempfile::tempdir().unwrap();
        let (mut writing, sending) = open(folder.path(), "export").unwrap();
        writing.write(b"half").unwrap();
        drop(writing);
        all(sending).await.unwrap_err();
        let (writing, mut sending) = open(folder.path(), "export").unwrap();
        drop(writing);
        assert!(!sending.has_begun().await);
    }

    #[tokio::test]
    async fn nothing_is_written_for_a_reader_who_has_gone() {
        let folder = tempfile::tempdir().unwrap();
        let (mut writing, sending) = open(folder.path(), "export").unwrap();
        drop(sending);
        writing.write(b"nobody").unwrap_err();
    }
}
