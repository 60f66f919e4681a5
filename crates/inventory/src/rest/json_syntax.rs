//! Finds where and why a text is not JSON, worded as clients of the conventions expect. Our parser
//! words its errors differently, so a refused text is scanned again.

use super::value::is_written_as_integer;

/// A syntax error, with its byte offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SyntaxError {
    /// The message, and the offset that it is about.
    At(&'static str, usize),
    /// A number that JSON cannot express, such as `NaN`.
    Constant(&'static str),
    /// An integer with more than [`MAX_DIGITS`] digits, with their number.
    Digits(usize),
}

/// The most digits of an integer.
pub(super) const MAX_DIGITS: usize = 4300;

/// The first syntax error of a text. `None` if the text is JSON.
pub(super) fn find_error(text: &str) -> Option<SyntaxError> {
    let mut scanner = TextScanner { text, at: 0 };
    scanner.document().err()
}

struct TextScanner<'text> {
    text: &'text str,
    at: usize,
}

type Step = Result<(), SyntaxError>;

impl TextScanner<'_> {
    /// Scans one value up to the end of the text. The closing brackets that are still due are kept
    /// in a list, so that nesting uses no stack.
    fn document(&mut self) -> Step {
        let mut open = Vec::new();
        self.skip_space();
        loop {
            if let Some(close) = self.value()? {
                open.push(close);
                continue;
            }
            loop {
                self.skip_space();
                let Some(close) = open.last().copied() else {
                    return if self.at == self.text.len() {
                        Ok(())
                    } else {
                        self.fail("Extra data")
                    };
                };
                if self.peek() != Some(close) {
                    break self.comma(close)?;
                }
                self.at += 1;
                open.pop();
            }
        }
    }

    /// Scans a scalar or an empty array or object. Of any other array or object it scans only the
    /// beginning, and returns the closing bracket.
    fn value(&mut self) -> Result<Option<u8>, SyntaxError> {
        let close = match self.peek() {
            Some(b'{') => b'}',
            Some(b'[') => b']',
            _ => return self.scalar().map(|()| None),
        };
        self.at += 1;
        self.skip_space();
        if self.peek() == Some(close) {
            self.at += 1;
            return Ok(None);
        }
        if close == b'}' {
            self.name()?;
        }
        Ok(Some(close))
    }

    /// Scans the comma between two values; in an object also the next name.
    fn comma(&mut self, close: u8) -> Step {
        let comma = self.at;
        if self.peek() != Some(b',') {
            return self.fail("Expecting ',' delimiter");
        }
        self.at += 1;
        self.skip_space();
        match close {
            b'}' if self.peek() == Some(close) => Err(SyntaxError::At(
                "Illegal trailing comma before end of object",
                comma,
            )),
            b'}' => self.name(),
            _ if self.peek() == Some(close) => Err(SyntaxError::At(
                "Illegal trailing comma before end of array",
                comma,
            )),
            _ => Ok(()),
        }
    }

    /// Scans a member's name and the colon after it.
    fn name(&mut self) -> Step {
        if self.peek() != Some(b'"') {
            return self.fail("Expecting property name enclosed in double quotes");
        }
        self.string()?;
        self.skip_space();
        if self.peek() != Some(b':') {
            return self.fail("Expecting ':' delimiter");
        }
        self.at += 1;
        self.skip_space();
        Ok(())
    }

    fn scalar(&mut self) -> Step {
        let rest = self.rest();
        if rest.starts_with('"') {
            return self.string();
        }
        for constant in ["NaN", "Infinity", "-Infinity"] {
            if rest.starts_with(constant) {
                return Err(SyntaxError::Constant(constant));
            }
        }
        let word = ["null", "true", "false"]
            .into_iter()
            .find(|word| rest.starts_with(word));
        let length = word.map_or_else(|| number(rest), str::len);
        let number = rest.get(..length).unwrap_or_default();
        let digits = number.trim_start_matches('-').len();
        match length {
            0 => self.fail("Expecting value"),
            _ if digits > MAX_DIGITS && is_written_as_integer(number) => {
                Err(SyntaxError::Digits(digits))
            }
            length => {
                self.at += length;
                Ok(())
            }
        }
    }

    fn string(&mut self) -> Step {
        let begin = self.at;
        self.at += 1;
        loop {
            match self.peek() {
                None => return Err(SyntaxError::At("Unterminated string starting at", begin)),
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => self.escape(begin)?,
                Some(..=0x1f) => return self.fail("Invalid control character at"),
                Some(_) => self.at += 1,
            }
        }
    }

    fn escape(&mut self, begin: usize) -> Step {
        let after = self.text.as_bytes().get(self.at + 1..).unwrap_or_default();
        match after {
            [] => Err(SyntaxError::At("Unterminated string starting at", begin)),
            [b'u', digits @ ..] => {
                let is_unit = digits.len() > 4 && digits.iter().take(4).all(u8::is_ascii_hexdigit);
                if !is_unit {
                    return Err(SyntaxError::At("Invalid \\uXXXX escape", self.at + 1));
                }
                self.at += 6;
                Ok(())
            }
            [b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => {
                self.at += 2;
                Ok(())
            }
            _ => self.fail("Invalid \\escape"),
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn fail(&self, words: &'static str) -> Step {
        Err(SyntaxError::At(words, self.at))
    }
}

/// The length in bytes of the longest number at the beginning of a text; 0 if there is none.
fn number(text: &str) -> usize {
    let digits = |from: usize| {
        let rest = text.as_bytes().get(from..).unwrap_or_default();
        rest.iter().take_while(|byte| byte.is_ascii_digit()).count()
    };
    let at = |place: usize| text.as_bytes().get(place).copied();
    let sign = usize::from(at(0) == Some(b'-'));
    let mut end = match at(sign) {
        Some(b'0') => sign + 1,
        Some(b'1'..=b'9') => sign + digits(sign),
        _ => return 0,
    };
    if at(end) == Some(b'.') && digits(end + 1) > 0 {
        end += 1 + digits(end + 1);
    }
    if matches!(at(end), Some(b'e' | b'E')) {
        let from = end + 1 + usize::from(matches!(at(end + 1), Some(b'+' | b'-')));
        if digits(from) > 0 {
            end = from + digits(from);
        }
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_no_error_in_json_however_deep() {
        let deep = format!("{}{}", "[{\"a\":".repeat(50_000), "}]".repeat(50_000));
        for text in [
            " {} ",
            r#"{"a": [1, -0.5e-3, {"b": "\u00e9\n"}, [], null], "c": true} "#,
            "\"\\ud800\"",
        ] {
            assert_eq!(find_error(text), None, "{text}");
        }
        assert!(matches!(
            find_error(&deep),
            Some(SyntaxError::At("Expecting value", _))
        ));
    }
}
