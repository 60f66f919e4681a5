//! The encoding of a file: UTF-8, or Windows-1252, as of plain CSV files in Brazil.

use std::borrow::Cow;

/// The characters of the bytes 0x80 to 0x9F in Windows-1252. Control characters mark undefined
/// bytes. All other bytes are equal to their code points.
/// <https://encoding.spec.whatwg.org/index-windows-1252.txt>
const HIGH: &str = "€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8D}Ž\u{8F}\u{90}‘’“”•–—˜™š›œ\u{9D}žŸ";

/// The detected encoding. The first character that is not ASCII decides for the whole file. A file
/// that mixes both encodings is refused, because it would give wrong letters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Encoding {
    #[default]
    Unknown,
    Utf8,
    Windows1252,
}

impl Encoding {
    /// Decodes the next part of the file. `None` if its encoding differs from the parts before.
    pub(super) fn read<'a>(&mut self, bytes: &'a [u8]) -> Option<Cow<'a, str>> {
        let utf8 = std::str::from_utf8(bytes).ok();
        if bytes.is_ascii() {
            return utf8.map(Cow::Borrowed);
        }
        let detected = if utf8.is_some() {
            Self::Utf8
        } else {
            Self::Windows1252
        };
        if *self == Self::Unknown {
            *self = detected;
        }
        if *self != detected {
            return None;
        }
        match utf8 {
            Some(text) => Some(Cow::Borrowed(text)),
            None => bytes.iter().map(|byte| windows_1252(*byte)).collect(),
        }
    }
}

/// Decodes a file. `None` if it has neither encoding, or mixes both.
pub(crate) fn decode(file: &[u8]) -> Option<String> {
    let mut encoding = Encoding::default();
    let lines = file.split_inclusive(|byte| *byte == b'\n');
    lines.map(|line| encoding.read(line)).collect()
}

fn windows_1252(byte: u8) -> Option<char> {
    match byte {
        0x80..=0x9F => HIGH
            .chars()
            .nth(usize::from(byte - 0x80))
            .filter(|read| !read.is_control()),
        _ => Some(char::from(byte)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_letter_that_is_not_ascii_decides_for_the_whole_file() {
        for (file, text) in [
            (&b"nome\nArroz\n"[..], Some("nome\nArroz\n")),
            (
                "nome\nPão de açúcar\n".as_bytes(),
                Some("nome\nPão de açúcar\n"),
            ),
            (
                b"nome\nP\xE3o de a\xE7\xFAcar\n\x80 5\n",
                Some("nome\nPão de açúcar\n€ 5\n"),
            ),
            // Mixed encodings, and a byte of neither.
            (b"P\xE3o\nP\xC3\xA3o\n", None),
            (b"P\xC3\xA3o\nP\xE3o\n", None),
            (b"P\x81o\n", None),
        ] {
            assert_eq!(decode(file).as_deref(), text, "{file:?}");
        }
    }
}
