//! Reads a CSV file as rows of cells: encoding, separator, header, size limit of rows.

use std::borrow::Cow;
use std::io::{self, BufRead as _, BufReader, Read};

use csv::{ByteRecord, ReaderBuilder};

use super::{
    FileKind, ImportError, Problem, Progress,
    column::{self, FileColumn},
    encoding::Encoding,
};
use crate::rest::Message;

/// The most bytes per row, with the reader's buffer. Bounds the memory if a quote is not closed.
const MAX_ROW: usize = 2 * 1024 * 1024;

/// The most columns of a file.
const MAX_COLUMNS: usize = 100;

/// A file that is being read.
pub(crate) struct Sheet {
    reader: csv::Reader<Bounded>,
    record: ByteRecord,
    encoding: Encoding,
    /// Whether lines end with CR LF, as on Windows.
    has_crlf: bool,
    pub(super) separator: u8,
    /// The columns in the order of the file.
    pub(super) columns: Vec<FileColumn>,
}

/// A row with one cell per column.
pub(crate) struct SheetLine {
    pub(super) number: u64,
    pub(super) cells: Vec<String>,
}

impl Sheet {
    /// Opens a file and reads its header.
    pub(crate) fn of(
        file: Box<dyn Read + Send>,
        resource: FileKind,
        progress: Progress,
    ) -> Result<Self, ImportError> {
        let mut buffered = BufReader::with_capacity(64 * 1024, file);
        let start = buffered.fill_buf()?;
        if start.starts_with(&[0xFF, 0xFE]) || start.starts_with(&[0xFE, 0xFF]) {
            return Err(ImportError::Format(Message::fixed(
                "O arquivo está em UTF-16: salve-o como “CSV UTF-8”.",
                "The file is in UTF-16: save it as “CSV UTF-8”.",
            )));
        }
        let (bom_length, encoding) = if start.starts_with(&[0xEF, 0xBB, 0xBF]) {
            (3, Encoding::Utf8)
        } else {
            (0, Encoding::Unknown)
        };
        let separator = separator(start.get(bom_length..).unwrap_or_default());
        let mut ends = start.split(|byte| *byte == b'\n');
        let has_crlf = ends.next().is_some_and(|first| first.ends_with(b"\r"));
        buffered.consume(bom_length);
        let reader = ReaderBuilder::new()
            .delimiter(separator)
            .has_headers(false)
            .flexible(true)
            .from_reader(Bounded {
                file: buffered,
                left: MAX_ROW,
                progress,
                bytes_read: 0,
                end: None,
            });
        let mut sheet = Self {
            reader,
            record: ByteRecord::new(),
            encoding,
            has_crlf,
            separator,
            columns: Vec::new(),
        };
        sheet.read_header(resource)?;
        Ok(sheet)
    }

    fn read_header(&mut self, resource: FileKind) -> Result<(), ImportError> {
        if !self.advance()? || self.is_sentinel() {
            return Err(ImportError::Format(Message::fixed(
                "O arquivo está vazio: a primeira linha deve nomear as colunas.",
                "The file is empty: its first row must name the columns.",
            )));
        }
        let found = self.record.len();
        if found > MAX_COLUMNS {
            return Err(ImportError::Format(Message::new(
                format!("A primeira linha tem {found} colunas; há no máximo {MAX_COLUMNS}."),
                format!("The first row has {found} columns; there are at most {MAX_COLUMNS}."),
            )));
        }
        let names: Vec<String> = self
            .record
            .iter()
            .map(|cell| {
                let name = self.encoding.read(cell);
                let name = name.unwrap_or_else(|| String::from_utf8_lossy(cell));
                name.trim().to_owned()
            })
            .collect();
        self.columns = column::of_header(resource, &names).map_err(ImportError::Format)?;
        Ok(())
    }

    fn advance(&mut self) -> Result<bool, ImportError> {
        self.reader.get_mut().left = MAX_ROW;
        let line = self.number(self.reader.position());
        self.reader
            .read_byte_record(&mut self.record)
            .map_err(|error| match error.into_kind() {
                csv::ErrorKind::Io(error) if error.kind() == io::ErrorKind::FileTooLarge => {
                    ImportError::Format(Message::new(
                        format!("A linha {line} tem mais de 2 MiB: talvez uma aspa não tenha sido fechada."),
                        format!("The row that begins on line {line} has more than 2 MiB: perhaps a quotation mark is not closed."),
                    ))
                }
                csv::ErrorKind::Io(error) => ImportError::File(error),
                other => ImportError::Format(Message::new(
                    format!("A linha {line} não pode ser lida: {other:?}"),
                    format!("Line {line} cannot be read: {other:?}"),
                )),
            })
    }

    /// The line on which a row begins. The reader counts the LF of CR LF with the next row.
    fn number(&self, begin: &csv::Position) -> u64 {
        begin.line() + u64::from(self.has_crlf && begin.byte() > 0)
    }

    /// The next row, or the problem of the whole row. Skips blank rows, which spreadsheets leave.
    pub(crate) fn next(&mut self) -> Result<Option<Result<SheetLine, Problem>>, ImportError> {
        while self.advance()? {
            if self.is_sentinel() {
                return Ok(None);
            }
            let is_blank = |cell: &[u8]| cell.iter().all(u8::is_ascii_whitespace);
            if !self.record.iter().all(is_blank) {
                return Ok(Some(self.line()));
            }
        }
        Ok(None)
    }

    /// Whether the current row includes the sentinel.
    fn includes_sentinel(&self) -> bool {
        let read = self.reader.position().byte();
        let bounded = self.reader.get_ref();
        bounded
            .end
            .is_some_and(|end| read >= end + SENTINEL.len() as u64)
    }

    /// Whether the current row is the sentinel.
    fn is_sentinel(&self) -> bool {
        self.includes_sentinel()
            && self.record.len() == 1
            && SENTINEL.ends_with(self.record.as_slice())
    }

    fn line(&mut self) -> Result<SheetLine, Problem> {
        let number = self.record.position().map_or(0, |begin| self.number(begin));
        let problem = |column, message| Problem {
            line: number,
            column,
            message,
        };
        if self.includes_sentinel() {
            let message = Message::fixed(
                "Uma aspa desta linha não foi fechada: talvez o arquivo tenha sido cortado.",
                "A quotation mark in this row is not closed: perhaps the file was cut off.",
            );
            return Err(problem(None, message));
        }
        let (found, expected) = (self.record.len(), self.columns.len());
        if found != expected {
            let message = Message::new(
                format!("Esta linha tem {found} células, a primeira tem {expected}."),
                format!("This row has {found} cells, the first row has {expected}."),
            );
            return Err(problem(None, message));
        }
        let cells: Result<Vec<String>, Problem> = self
            .record
            .iter()
            .zip(&self.columns)
            .map(|(cell, column)| {
                let text = self.encoding.read(cell).map(Cow::into_owned);
                text.ok_or_else(|| {
                    let message = Message::fixed(
                        "Isto não está em UTF-8: salve o arquivo como “CSV UTF-8”.",
                        "This is not UTF-8: save the file as “CSV UTF-8”.",
                    );
                    problem(Some(column.name), message)
                })
            })
            .collect();
        Ok(SheetLine {
            number,
            cells: cells?,
        })
    }
}

/// The separator of a file, from its first row.
pub(crate) fn separator(start: &[u8]) -> u8 {
    let mut rows = start.split(|byte| matches!(byte, b'\n' | b'\r'));
    let first = rows.next().unwrap_or_default();
    if first.contains(&b';') { b';' } else { b',' }
}

/// The sentinel that is appended to every file: a line end and one more row. A row that includes it
/// has a quotation mark that is not closed.
const SENTINEL: &[u8] = b"\n-";

/// Reads the file, with a limit on the bytes per row.
struct Bounded {
    file: BufReader<Box<dyn Read + Send>>,
    left: usize,
    progress: Progress,
    bytes_read: u64,
    /// The size of the file, once its end is reached.
    end: Option<u64>,
}

impl Read for Bounded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let length = self.file.read(buffer)?;
        if length == 0 && self.end.is_none() && buffer.len() >= SENTINEL.len() {
            self.end = Some(self.bytes_read);
            let mut sentinel = SENTINEL;
            return sentinel.read(buffer);
        }
        self.left = self.left.saturating_sub(length);
        self.bytes_read += length as u64;
        (self.progress)(length as u64);
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use std::{io::Cursor, sync::Arc};

    use super::*;

    #[test]
    fn a_first_row_of_more_columns_than_any_file_has_is_refused_before_they_are_read() {
        let file = Box::new(Cursor::new(vec![b','; 1024 * 1024]));
        let opened = Sheet::of(file, FileKind::Products, Arc::new(|_| ()));
        let Err(ImportError::Format(message)) = opened.map(|_| ()) else {
            panic!("it was accepted");
        };
        let expected = "The first row has 1048577 columns; there are at most 100.";
        assert_eq!(message.text(web::locale::Locale::En), expected);
    }

    #[test]
    fn the_first_row_decides_what_separates_cells() {
        for (start, expected) in [
            ("name;description\nA,B;C\n", b';'),
            ("name,description\nA;B,C\n", b','),
            ("name\rA;B\r", b','),
            ("", b','),
        ] {
            assert_eq!(separator(start.as_bytes()), expected, "{start:?}");
        }
    }
}
