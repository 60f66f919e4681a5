//! Standard output and standard error of commands. A closed pipe (`balcao … | head`) is not a
//! failure.

use std::io::Write;

/// Writes one or more lines to standard output.
pub(crate) fn print(text: &str) {
    let mut output = std::io::stdout().lock();
    // The only likely error is a closed pipe, which means that nobody reads the rest.
    let _ = writeln!(output, "{text}").and_then(|()| output.flush());
}

/// Writes an error or a remark to standard error.
pub(crate) fn print_error(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "balcao: {}", escaped(text));
}

/// Escapes control characters except line ends. Text from a file or a response must not control the
/// terminal.
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
