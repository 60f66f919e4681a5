//! A CSV file as rows of cells: encoding, separator, first row, and bounds on what one row may hold. What cells mean is not here.

use std::{
    fs::File,
    io::{self, BufRead as _, BufReader, Read},
    path::Path,
};

use csv::{ByteRecord, ReaderBuilder};

use super::{
    ImportError, Problem, Progress, Resource,
    column::{self, Column},
};

/// The most bytes of one row, what the reader holds in advance included: a quotation mark that is not closed must not fill the memory.
const MAX_ROW: usize = 2 * 1024 * 1024;

/// A file that is being read.
pub(super) struct Sheet {
    reader: csv::Reader<Bounded>,
    record: ByteRecord,
    /// What separates cells.
    pub(super) separator: u8,
    /// The file's columns in their order.
    pub(super) columns: Vec<Column>,
}

/// A row with its cells, one for each column.
pub(super) struct Line {
    pub(super) number: u64,
    pub(super) cells: Vec<String>,
}

impl Sheet {
    /// Opens a file and reads its first row.
    pub(super) fn open(
        file: &Path,
        resource: Resource,
        progress: Progress,
    ) -> Result<Self, ImportError> {
        Self::of(Box::new(File::open(file)?), resource, progress)
    }

    /// Reads the first row of a file from wherever it comes.
    pub(super) fn of(
        file: Box<dyn Read + Send>,
        resource: Resource,
        progress: Progress,
    ) -> Result<Self, ImportError> {
        let mut buffered = BufReader::with_capacity(64 * 1024, file);
        let start = buffered.fill_buf()?;
        if start.starts_with(&[0xFF, 0xFE]) || start.starts_with(&[0xFE, 0xFF]) {
            return Err(ImportError::Format(
                "the file is in UTF-16: save it as \"CSV UTF-8\"".to_owned(),
            ));
        }
        let mark = if start.starts_with(&[0xEF, 0xBB, 0xBF]) {
            3
        } else {
            0
        };
        let first_row = start.get(mark..).unwrap_or_default();
        let first_row = first_row
            .split(|byte| matches!(byte, b'\n' | b'\r'))
            .next()
            .unwrap_or_default();
        let separator = if first_row.contains(&b';') {
            b';'
        } else {
            b','
        };
        buffered.consume(mark);
        let reader = ReaderBuilder::new()
            .delimiter(separator)
            .has_headers(false)
            .flexible(true)
            .from_reader(Bounded {
                file: buffered,
                left: MAX_ROW,
                progress,
            });
        let mut sheet = Self {
            reader,
            record: ByteRecord::new(),
            separator,
            columns: Vec::new(),
        };
        sheet.read_header(resource)?;
        Ok(sheet)
    }

    fn read_header(&mut self, resource: Resource) -> Result<(), ImportError> {
        if !self.advance()? {
            return Err(ImportError::Format(
                "the file is empty: its first row names the columns".to_owned(),
            ));
        }
        let names: Vec<String> = self
            .record
            .iter()
            .map(|cell| String::from_utf8_lossy(cell).trim().to_owned())
            .collect();
        self.columns = column::of_header(resource, &names).map_err(ImportError::Format)?;
        Ok(())
    }

    fn advance(&mut self) -> Result<bool, ImportError> {
        self.reader.get_mut().left = MAX_ROW;
        let line = self.reader.position().line();
        self.reader
            .read_byte_record(&mut self.record)
            .map_err(|error| match error.into_kind() {
                csv::ErrorKind::Io(error) if error.kind() == io::ErrorKind::FileTooLarge => {
                    ImportError::Format(format!(
                        "the row that begins on line {line} has more than 2 MiB: perhaps a quotation mark is not closed"
                    ))
                }
                csv::ErrorKind::Io(error) => ImportError::File(error),
                other => ImportError::Format(format!("line {line} cannot be read: {other:?}")),
            })
    }

    /// The next row, or what is wrong with it as a whole. Rows of blank cells, as spreadsheets leave them, are passed over.
    pub(super) fn next(&mut self) -> Result<Option<Result<Line, Problem>>, ImportError> {
        while self.advance()? {
            let is_blank = |cell: &[u8]| cell.iter().all(u8::is_ascii_whitespace);
            if !self.record.iter().all(is_blank) {
                return Ok(Some(self.line()));
            }
        }
        Ok(None)
    }

    fn line(&self) -> Result<Line, Problem> {
        let number = self.record.position().map_or(0, csv::Position::line);
        let problem = |column, message| Problem {
            line: number,
            column,
            message,
        };
        let (found, wanted) = (self.record.len(), self.columns.len());
        if found != wanted {
            let message = format!("This row has {found} cells, the first row has {wanted}.");
            return Err(problem(None, message));
        }
        let cells: Result<Vec<String>, Problem> = self
            .record
            .iter()
            .zip(&self.columns)
            .map(|(cell, column)| {
                String::from_utf8(cell.to_vec()).map_err(|_| {
                    let message = "This is not UTF-8: save the file as \"CSV UTF-8\".".to_owned();
                    problem(Some(column.name), message)
                })
            })
            .collect();
        Ok(Line {
            number,
            cells: cells?,
        })
    }
}

/// The file, of which only so much is given for one row.
struct Bounded {
    file: BufReader<Box<dyn Read + Send>>,
    left: usize,
    progress: Progress,
}

impl Read for Bounded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let length = self.file.read(buffer)?;
        self.left = self.left.saturating_sub(length);
        (self.progress)(length as u64);
        Ok(length)
    }
}
