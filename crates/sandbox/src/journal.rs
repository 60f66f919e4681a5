//! The file that lets payments survive a restart: one line of JSON for each payment after each
//! change, appended by a thread of its own.
//!
//! No request waits for the disk. At the start the file is read, and written again with only the
//! last line of each payment. Card numbers and security codes cannot get into it: payments do not
//! have them.

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
    /// Asks for a signal when everything before it is written.
    Flush(tokio::sync::oneshot::Sender<()>),
}

/// The open journal. Dropping it writes what is left.
pub(crate) struct Journal {
    lines: Option<Sender<JournalEntry>>,
    writer: Option<JoinHandle<()>>,
}

impl Journal {
    /// Reads the journal in a folder, which is made if it is absent, compacts it and opens it for
    /// more.
    ///
    /// # Errors
    /// When the folder or the file cannot be read or written. A last line that was cut off is
    /// passed over.
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

    /// Appends a payment soon.
    pub(crate) fn write(&self, payment: Arc<Payment>) {
        if let Some(lines) = &self.lines {
            // The thread ends only when the disk failed, which it said itself.
            let _ = lines.send(JournalEntry::Payment(payment));
        }
    }

    /// Ends when everything before it is written.
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

/// Writes lines as they come and flushes whenever none is waiting.
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
            // The caller may have gone.
            let _ = sender.send(());
        }
    }
}

fn write_line(file: &mut BufWriter<File>, payment: &Payment) -> io::Result<()> {
    serde_json::to_writer(&mut *file, payment)?;
    file.write_all(b"\n")
}
