//! A form with a file, as browsers send it: `multipart/form-data` (RFC 7578), read completely, since the body is bounded. Pure.

/// One field of a form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) name: String,
    /// Of files.
    pub(super) file_name: Option<String>,
    pub(super) content: Vec<u8>,
}

/// The fields of a body; `None` when it is not what its content type says.
pub(super) fn read(content_type: &str, body: &[u8]) -> Option<Vec<Part>> {
    let boundary = boundary(content_type)?;
    let first = format!("--{boundary}");
    let between = format!("\r\n--{boundary}");
    let mut rest = body.strip_prefix(first.as_bytes())?;
    let mut parts = Vec::new();
    while !rest.starts_with(b"--") {
        rest = rest.strip_prefix(b"\r\n")?;
        let (head, after) = split(rest, b"\r\n\r\n")?;
        let (content, after) = split(after, between.as_bytes())?;
        parts.push(part(std::str::from_utf8(head).ok()?, content)?);
        rest = after;
    }
    Some(parts)
}

/// The text between the parts, from `multipart/form-data; boundary=…`.
fn boundary(content_type: &str) -> Option<&str> {
    let (kind, parameters) = content_type.split_once(';')?;
    if !kind.trim().eq_ignore_ascii_case("multipart/form-data") {
        return None;
    }
    let boundary = parameters.trim().strip_prefix("boundary=")?;
    let boundary = boundary.trim_matches('"');
    (1..=70).contains(&boundary.len()).then_some(boundary)
}

fn split<'a>(bytes: &'a [u8], mark: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    let at = bytes
        .windows(mark.len())
        .position(|window| window == mark)?;
    Some((bytes.get(..at)?, bytes.get(at + mark.len()..)?))
}

fn part(head: &str, content: &[u8]) -> Option<Part> {
    let disposition = head.split("\r\n").find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-disposition")
            .then_some(value)
    })?;
    Some(Part {
        name: parameter(disposition, "name")?,
        file_name: parameter(disposition, "filename"),
        content: content.to_vec(),
    })
}

/// A quoted parameter; browsers write quotation marks in it as `%22`.
fn parameter(disposition: &str, name: &str) -> Option<String> {
    let start = format!("; {name}=\"");
    let (_, rest) = disposition.split_once(&start)?;
    let (value, _) = rest.split_once('"')?;
    Some(value.replace("%22", "\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TYPE: &str = "multipart/form-data; boundary=----x";

    #[test]
    fn fields_and_files_are_read_as_they_were_sent() {
        let body = "------x\r\nContent-Disposition: form-data; name=\"resource\"\r\n\r\nbrands\r\n\
                    ------x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a b.csv\"\r\n\
                    Content-Type: text/csv\r\n\r\nname\r\nGrão\r\n\r\n------x--\r\n";
        let parts = read(TYPE, body.as_bytes()).unwrap();
        assert_eq!(parts[0].name, "resource");
        assert_eq!(parts[0].content, b"brands");
        assert_eq!(parts[1].file_name.as_deref(), Some("a b.csv"));
        assert_eq!(parts[1].content, "name\r\nGrão\r\n".as_bytes());
    }

    #[test]
    fn what_is_cut_off_or_something_else_is_not_read() {
        for (content_type, body) in [
            ("text/plain", "x"),
            ("multipart/form-data", "------x--"),
            (TYPE, ""),
            (
                TYPE,
                "------x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nb",
            ),
            (TYPE, "------x\r\nX: y\r\n\r\nb\r\n------x--"),
            (TYPE, "------xy"),
        ] {
            assert_eq!(read(content_type, body.as_bytes()), None, "{body}");
        }
    }
}
