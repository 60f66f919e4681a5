//! The journal, with which payments survive a restart: one line of JSON for each payment after each
//! change, appended by a separate thread.
//!
//! No request waits for the disk. At the start the file is read and rewritten with only the last
//! line of each payment. Payments contain no card numbers or security codes, so the journal has
//! none either.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use crate::model::Payment;

const FILE: &str = "payments.jsonl";
const NEW_FILE: &str = "payments.jsonl.new";

enum JournalEntry {
    Payment(Arc<Payment>),
    /// Sends a signal when everything before this entry is written.
    Flush(tokio::sync::oneshot::Sender<()>),
}

/// The open journal. Dropping it writes the remaining lines.
pub(crate) struct Journal {
    lines: Option<Sender<JournalEntry>>,
    writer: Option<JoinHandle<()>>,
}

impl Journal {
    /// Reads the journal in a folder, compacts it and opens it for appending. Creates the folder if
    /// it is missing.
    ///
    /// # Errors
    /// When the folder or the file cannot be read or written. An incomplete last line is ignored.
    pub(crate) fn open(folder: &Path) -> io::Result<(Vec<Payment>, Self)> {
        fs::create_dir_all(folder)?;
        let payments = read(&folder.join(FILE))?;
        let mut file = BufWriter::new(File::create(folder.join(NEW_FILE))?);
        for payment in payments.values() {
            write_line(&mut file, payment)?;
        }
        file.flush()?;
        fs::rename(folder.join(NEW_FILE), folder.join(FILE))?;
        let (lines, queue) = channel();
        let writer = std::thread::Builder::new()
            .name("sandbox-journal".to_owned())
            .spawn(move || write_all(&queue, file))?;
        let journal = Self {
            lines: Some(lines),
            writer: Some(writer),
        };
        Ok((payments.into_values().collect(), journal))
    }

    /// Queues a payment to be appended.
    pub(crate) fn write(&self, payment: Arc<Payment>) {
        if let Some(lines) = &self.lines {
            // The thread ends only after a disk error, which it has logged.
            let _ = lines.send(JournalEntry::Payment(payment));
        }
    }

    /// The returned receiver completes when everything queued so far is written.
    pub(crate) fn flushed(&self) -> tokio::sync::oneshot::Receiver<()> {
        let (sender, receiver) = tokio::sync::oneshot::channel();
        if let Some(lines) = &self.lines {
            let _ = lines.send(JournalEntry::Flush(sender));
        }
        receiver
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        self.lines = None;
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}

fn read(file: &Path) -> io::Result<BTreeMap<u64, Payment>> {
    let mut payments = BTreeMap::new();
    let file = match File::open(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(payments),
        other => other?,
    };
    for line in BufReader::new(file).split(b'\n') {
        if let Ok(payment) = serde_json::from_slice::<Payment>(&line?) {
            payments.insert(payment.id, payment);
        }
    }
    Ok(payments)
}

/// Writes lines as they come, and flushes whenever the queue is empty.
fn write_all(queue: &Receiver<JournalEntry>, mut file: BufWriter<File>) {
    while let Ok(first) = queue.recv() {
        let mut flushes = Vec::new();
        let mut waiting = std::iter::once(first).chain(queue.try_iter());
        let written = waiting
            .try_for_each(|line| match line {
                JournalEntry::Payment(payment) => write_line(&mut file, &payment),
                JournalEntry::Flush(sender) => {
                    flushes.push(sender);
                    Ok(())
                }
            })
            .and_then(|()| file.flush());
        if let Err(error) = written {
            tracing::error!(%error, "the sandbox's journal cannot be written: payments will not survive a restart");
            return;
        }
        for sender in flushes {
            // The receiver may be gone.
            let _ = sender.send(());
        }
    }
}

fn write_line(file: &mut BufWriter<File>, payment: &Payment) -> io::Result<()> {
    serde_json::to_writer(&mut *file, payment)?;
    file.write_all(b"\n")
}
