//! Standard output and standard error of commands. A closed pipe (`balcao … | head`) is not a
//! failure.

use std::io::{self, ErrorKind, Write, stderr, stdout};

use crate::failure::Failure;

/// Writes one or more lines to standard output.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    match write(&escaped(text)) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::of("standard output", &error))
        }
        _ => Ok(()),
    }
}

/// Same as [`print()`] for a secret that is shown only once: that nobody reads it is a failure too.
/// `remedy` says what to do then.
pub(crate) fn print_secret(secret: &str, remedy: &str) -> Result<(), Failure> {
    write(secret).map_err(|error| {
        Failure::new(format!(
            "standard output: {error}: the secret is lost; {remedy}"
        ))
    })
}

fn write(text: &str) -> io::Result<()> {
    let mut output = stdout().lock();
    writeln!(output, "{text}")?;
    output.flush()
}

/// Writes an error or a remark to standard error.
pub(crate) fn print_error(text: &str) {
    let _ = writeln!(stderr().lock(), "balcao: {}", escaped(text));
}

/// Escapes control characters except line ends. Text from a file, a response or a record must not
/// control the terminal.
pub(crate) fn escaped(text: &str) -> String {
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
