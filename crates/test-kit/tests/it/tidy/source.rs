//! Rust source taken apart as far as the rules need it: string literals, and the code without
//! strings and comments.

/// A source file's parts.
pub(super) struct Source {
    /// The code with strings emptied and comments gone; lines keep their numbers.
    pub(super) code: String,
    /// Every string literal with the line where it begins, as written, escapes untouched.
    pub(super) strings: Vec<(usize, String)>,
}

impl Source {
    /// Takes a file apart. What stands after `#[cfg(test)]` and a `mod` at the left edge is left
    /// out.
    pub(super) fn read(text: &str) -> Self {
        let mut lexer = Lexer {
            rest: without_tests(text),
            line: 1,
            source: Self {
                code: String::new(),
                strings: Vec::new(),
            },
        };
        while !lexer.rest.is_empty() {
            lexer.step();
        }
        lexer.source
    }

    /// Lines of the code that contain a text, with their numbers.
    pub(super) fn lines_with(&self, text: &str) -> Vec<usize> {
        let lines = self.code.lines().enumerate();
        lines
            .filter(|(_, line)| line.contains(text))
            .map(|(index, _)| index + 1)
            .collect()
    }
}

fn without_tests(text: &str) -> &str {
    let tests = text.match_indices("\n#[cfg(test)]\nmod ");
    let last = tests.last().map(|(at, _)| at);
    last.map_or(text, |at| &text[..at])
}

struct Lexer<'a> {
    rest: &'a str,
    line: usize,
    source: Source,
}

impl Lexer<'_> {
    fn step(&mut self) {
        let after_word = self
            .source
            .code
            .ends_with(|last: char| last.is_alphanumeric() || last == '_');
        if self.rest.starts_with("//") {
            let length = self.rest.find('\n').unwrap_or(self.rest.len());
            self.skip(length);
        } else if self.rest.starts_with("/*") {
            let length = self.rest.find("*/").map_or(self.rest.len(), |at| at + 2);
            self.skip(length);
        } else if self.rest.starts_with('"') {
            self.string(1, "\"", true);
        } else if !after_word && self.raw_opening().is_some() {
            let (opening, hashes) = self.raw_opening().unwrap_or_default();
            self.string(opening, &format!("\"{}", "#".repeat(hashes)), false);
        } else if let Some(length) = character_literal(self.rest) {
            self.skip(length);
            self.source.code.push_str("' '");
        } else {
            let next = self.rest.chars().next().unwrap_or_default();
            self.source.code.push(next);
            self.line += usize::from(next == '\n');
            self.rest = &self.rest[next.len_utf8()..];
        }
    }

    /// Length of `r#"` or `br##"` and the number of hashes in it.
    fn raw_opening(&self) -> Option<(usize, usize)> {
        let after = self
            .rest
            .strip_prefix("br")
            .or_else(|| self.rest.strip_prefix('r'))?;
        let hashes = after.bytes().take_while(|byte| *byte == b'#').count();
        after[hashes..]
            .starts_with('"')
            .then(|| (self.rest.len() - after.len() + hashes + 1, hashes))
    }

    fn string(&mut self, opening: usize, closing: &str, has_escapes: bool) {
        let body = &self.rest[opening..];
        let mut end = 0;
        while end < body.len() && !body[end..].starts_with(closing) {
            let is_escape = has_escapes && body[end..].starts_with('\\');
            let width = |at: usize| body[at..].chars().next().map_or(1, char::len_utf8);
            end += width(end);
            if is_escape && end < body.len() {
                end += width(end);
            }
        }
        let text = body[..end.min(body.len())].to_owned();
        self.source.strings.push((self.line, text));
        self.source.code.push_str("\"\"");
        self.skip((opening + end + closing.len()).min(self.rest.len()));
    }

    /// Passes over a piece, keeping its line breaks.
    fn skip(&mut self, length: usize) {
        let breaks = self.rest[..length].matches('\n').count();
        self.line += breaks;
        self.source.code.push_str(&"\n".repeat(breaks));
        self.rest = &self.rest[length..];
    }
}

/// Length of a character literal; `None` for a lifetime.
fn character_literal(text: &str) -> Option<usize> {
    let body = text.strip_prefix('\'')?;
    let length = if body.starts_with('\\') {
        2 + body.get(2..)?.find('\'')?
    } else {
        body.chars().next()?.len_utf8()
    };
    body.get(length..)?.starts_with('\'').then_some(length + 2)
}

#[test]
fn source_is_taken_apart_into_code_and_strings() {
    let source = Source::read(
        "let a = \"one \\\" //\"; // a \"comment\"\nlet b = r#\"two \" \"#; /* \"x\n\" */ let c = '\"'; f::<'a>(b\"three\")\n\
         \n#[cfg(test)]\nmod tests { const X: &str = \"four\"; }",
    );
    let strings: Vec<_> = source
        .strings
        .iter()
        .map(|(line, text)| (*line, text.as_str()))
        .collect();
    assert_eq!(strings, [(1, "one \\\" //"), (2, "two \" "), (3, "three")]);
    assert_eq!(
        source.code.trim_end(),
        "let a = \"\"; \nlet b = \"\"; \n let c = ' '; f::<'a>(b\"\")"
    );
    assert_eq!(source.lines_with("let c"), [3]);
}
