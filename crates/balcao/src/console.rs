//! Standard output and standard error of commands. A closed pipe (`balcao … | head`) is no failure.

use std::io::Write;

/// Writes one line, or several, to standard output.
pub(crate) fn print(text: &str) {
    let mut output = std::io::stdout().lock();
    // The only likely error is a closed pipe, and it means that nobody reads on.
    let _ = writeln!(output, "{text}").and_then(|()| output.flush());
}

/// Writes a failure or a remark to standard error.
pub(crate) fn print_error(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "balcao: {}", escaped(text));
}

/// Escapes control characters other than line ends: the content of a file or an answer must not
/// steer a terminal.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() && character != '\n' {
            escaped.extend(character.escape_default());
        } else {
            escaped.push(character);
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_does_not_steer_the_terminal() {
        assert_eq!(
            escaped("línea 1\nfound \"\u{1b}[2J\u{7}\""),
            "línea 1\nfound \"\\u{1b}[2J\\u{7}\""
        );
    }
}
