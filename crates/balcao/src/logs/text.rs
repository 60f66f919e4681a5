//! Formats log lines as text, like `tracing_subscriber`. The library's own formatter applies styles
//! to each part of a line, even without colours, which takes most of the time of an access log
//! line.

use std::fmt::{self, Debug, Write};

use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::field::RecordFields;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields, FormattedFields};
use tracing_subscriber::registry::{LookupSpan, Scope};
use web::{Clock, access};

/// The capacity of a line, in bytes.
const USUAL_LENGTH: usize = 256;

/// The capacity of the fields of a request's span, in bytes.
const USUAL_FIELDS: usize = 64;

/// `TIME LEVEL span{field=value}: target: message field=value`
pub(super) struct TextFormat {
    /// Whether time and level are coloured, for a terminal.
    pub(super) is_coloured: bool,
}

impl<S, N> FormatEvent<S, N> for TextFormat
where
    S: Subscriber + for<'span> LookupSpan<'span>,
    N: for<'writer> FormatFields<'writer> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        // The whole line is written at once, since each write to the library's writer is slow.
        let mut line = String::with_capacity(USUAL_LENGTH);
        let (now, (level, colour)) = (Clock::system().now(), shown(*event.metadata().level()));
        if self.is_coloured {
            write!(line, "{DIM}{now}{RESET}{colour}{level}{RESET}")?;
        } else {
            write!(line, "{now}{level}")?;
        }
        // An access log line has the fields of its span already.
        if event.metadata().target() != access::LOG {
            push_spans(&mut line, context);
        }
        line.push_str(event.metadata().target());
        line.push_str(": ");
        write_fields(&mut line, event)?;
        line.push('\n');
        writer.write_str(&line)
    }
}

/// Adds the spans of an event, outermost first.
fn push_spans<S, N>(line: &mut String, context: &FmtContext<'_, S, N>)
where
    S: Subscriber + for<'span> LookupSpan<'span>,
    N: for<'writer> FormatFields<'writer> + 'static,
{
    let spans = context.event_scope().map(Scope::from_root);
    let mut is_in_span = false;
    for span in spans.into_iter().flatten() {
        is_in_span = true;
        line.push_str(span.name());
        if let Some(fields) = span.extensions().get::<FormattedFields<N>>()
            && !fields.is_empty()
        {
            line.push('{');
            line.push_str(fields);
            line.push('}');
        }
        line.push(':');
    }
    if is_in_span {
        line.push(' ');
    }
}

impl<'writer> FormatFields<'writer> for TextFormat {
    fn format_fields<R: RecordFields>(&self, mut line: Writer<'writer>, fields: R) -> fmt::Result {
        let mut text = String::with_capacity(USUAL_FIELDS);
        write_fields(&mut text, fields)?;
        line.write_str(&text)
    }
}

fn write_fields(line: &mut impl Write, fields: impl RecordFields) -> fmt::Result {
    let mut visitor = Fields {
        line,
        is_first: true,
        done: Ok(()),
    };
    fields.record(&mut visitor);
    visitor.done
}

/// The escape sequence for dim text.
const DIM: &str = "\x1b[2m";
/// The escape sequence that resets the style.
const RESET: &str = "\x1b[0m";

/// The text and the colour of a level. All texts have the same width.
fn shown(level: Level) -> (&'static str, &'static str) {
    match level {
        Level::ERROR => (" ERROR ", "\x1b[31m"),
        Level::WARN => ("  WARN ", "\x1b[33m"),
        Level::INFO => ("  INFO ", "\x1b[32m"),
        Level::DEBUG => (" DEBUG ", "\x1b[34m"),
        Level::TRACE => (" TRACE ", "\x1b[35m"),
    }
}

/// Writes fields in order: the message without a name, the others with theirs.
struct Fields<'line, W> {
    line: &'line mut W,
    is_first: bool,
    done: fmt::Result,
}

impl<W: Write> Fields<'_, W> {
    fn name(&mut self, field: &Field) -> fmt::Result {
        if !std::mem::replace(&mut self.is_first, false) {
            self.line.write_char(' ')?;
        }
        if field.name() == "message" {
            return Ok(());
        }
        self.line.write_str(field.name())?;
        self.line.write_char('=')
    }

    fn debug(&mut self, field: &Field, value: &dyn Debug) -> fmt::Result {
        self.name(field)?;
        write!(EscapedLine(&mut *self.line), "{value:?}")
    }

    /// Writes a value that needs no escaping.
    fn plain(&mut self, field: &Field, value: fmt::Arguments<'_>) {
        if self.done.is_ok() {
            self.done = self.name(field).and_then(|()| self.line.write_fmt(value));
        }
    }

    /// Writes a quoted text. Nearly all texts need no escaping and are written in one call.
    fn quoted(&mut self, field: &Field, text: &str) -> fmt::Result {
        let is_plain = |byte: u8| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\');
        if !text.bytes().all(is_plain) {
            return self.debug(field, &text);
        }
        self.name(field)?;
        self.line.write_char('"')?;
        self.line.write_str(text)?;
        self.line.write_char('"')
    }
}

impl<W: Write> Visit for Fields<'_, W> {
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.plain(field, format_args!("{value:?}"));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.plain(field, format_args!("{value}"));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.plain(field, format_args!("{value}"));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if self.done.is_ok() {
            self.done = self.debug(field, value);
        }
    }

    fn record_str(&mut self, field: &Field, text: &str) {
        if self.done.is_ok() && field.name() == "message" {
            self.done = self.debug(field, &format_args!("{text}"));
        } else if self.done.is_ok() {
            self.done = self.quoted(field, text);
        }
    }
}

/// Escapes characters that control a terminal, end a line or turn the direction of writing, so that
/// a client's text can neither forge a log line nor control the terminal.
struct EscapedLine<W>(W);

impl<W: Write> Write for EscapedLine<W> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
            return self.0.write_str(text);
        }
        let mut rest = text;
        let is_control = |character: char| {
            let turns = matches!(character, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
            turns || character.is_control()
        };
        while let Some(place) = rest.find(is_control) {
            let (before, from) = rest.split_at(place);
            self.0.write_str(before)?;
            let mut after = from.chars();
            for escaped in after.next().into_iter().flat_map(char::escape_default) {
                self.0.write_char(escaped)?;
            }
            rest = after.as_str();
        }
        self.0.write_str(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines that `log` writes.
    fn lines(is_coloured: bool, log: impl FnOnce()) -> Vec<String> {
        let (reader, writer) = std::io::pipe().unwrap();
        let subscriber = tracing_subscriber::fmt()
            .with_ansi(false)
            .fmt_fields(TextFormat { is_coloured })
            .event_format(TextFormat { is_coloured })
            .with_writer(std::sync::Mutex::new(writer))
            .finish();
        tracing::subscriber::with_default(subscriber, log);
        let lines = std::io::read_to_string(reader).unwrap();
        lines.lines().map(str::to_owned).collect()
    }

    /// The lines that `log` writes, without the time.
    fn logged(log: impl FnOnce()) -> Vec<String> {
        let without_time = |line: String| line.split_once(' ').unwrap().1.to_owned();
        lines(false, log).into_iter().map(without_time).collect()
    }

    #[test]
    fn on_a_terminal_the_time_is_faint_and_the_level_has_its_colour() {
        let lines = lines(true, || {
            let _request = tracing::info_span!("request", id = 7).entered();
            tracing::warn!(target: "shop", sent = "\u{1b}[31m", "said");
        });
        let [line] = lines.as_slice() else {
            panic!("{lines:?}")
        };
        assert!(line.starts_with("\u{1b}[2m20"), "{line:?}");
        let expected =
            "Z\u{1b}[0m\u{1b}[33m  WARN \u{1b}[0mrequest{id=7}: shop: said sent=\"\\u{1b}[31m\"";
        assert!(line.ends_with(expected), "{line:?}");
    }

    #[test]
    fn a_line_has_its_spans_its_target_its_message_and_its_fields() {
        let lines = logged(|| {
            let _request = tracing::info_span!("request", service = "shop", id = 7).entered();
            let _step = tracing::info_span!("step").entered();
            tracing::warn!(target: "shop", status = 200, path = "/a b", error = %"late", "said {}", 1);
        });
        let expected = r#" WARN request{service="shop" id=7}:step: shop: said 1 status=200 path="/a b" error=late"#;
        assert_eq!(lines, [expected]);
    }

    #[test]
    fn a_line_of_the_access_log_says_all_of_itself() {
        let lines = logged(|| {
            let _request = tracing::info_span!("request", service = "shop", id = 7).entered();
            tracing::info!(target: access::LOG, service = "shop", id = 7);
        });
        assert_eq!(lines, [r#" INFO access: service="shop" id=7"#]);
    }

    #[test]
    fn what_somebody_sent_stays_in_its_line() {
        let lines = logged(|| {
            let sent = "x\n2026 ERROR \u{1b}[31m\"é\\\u{202e}";
            tracing::error!(target: "t", sent, %sent, "{sent}");
        });
        let expected = r#"ERROR t: x\n2026 ERROR \u{1b}[31m"é\\u{202e} sent="x\n2026 ERROR \u{1b}[31m\"é\\\u{202e}" sent=x\n2026 ERROR \u{1b}[31m"é\\u{202e}"#;
        assert_eq!(lines, [expected]);
    }
}
