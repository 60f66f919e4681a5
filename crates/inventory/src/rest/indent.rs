//! `Accept: application/json; indent=4`: pretty-prints the JSON of a response.

use axum::{
    body::Body,
    response::{IntoResponse as _, Response},
};
use http::{
    HeaderMap,
    header::{ACCEPT, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE},
};

/// The widest indentation, in spaces.
const WIDEST: usize = 8;

/// The requested indentation in spaces. `None` for compact JSON.
pub(crate) fn requested(headers: &HeaderMap) -> Option<usize> {
    let values = headers.get_all(ACCEPT).iter();
    values
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .find_map(|range| {
            let mut parts = range.split(';').map(str::trim);
            let is_json = parts.next()?.eq_ignore_ascii_case("application/json");
            let indent = parts.find_map(|part| part.strip_prefix("indent="))?;
            indent.parse().ok().filter(|_| is_json)
        })
        .map(|indent: usize| indent.min(WIDEST))
        .filter(|indent| *indent > 0)
}

/// Pretty-prints the response if it is uncompressed JSON.
pub(crate) async fn pretty_print(response: Response, indent: usize) -> Response {
    let is_json = response
        .headers()
        .get(CONTENT_TYPE)
        .is_some_and(|kind| kind == "application/json");
    if !is_json || response.headers().contains_key(CONTENT_ENCODING) {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let bytes = match axum::body::to_bytes(body, usize::MAX).await {
        Ok(bytes) => bytes,
        Err(error) => return web::Error::internal(error).into_response(),
    };
    parts.headers.remove(CONTENT_LENGTH);
    let lines = pretty_printed(&String::from_utf8_lossy(&bytes), indent);
    Response::from_parts(parts, Body::from(lines))
}

/// Pretty-prints compact JSON: every member and every item on a line of its own.
fn pretty_printed(json: &str, indent: usize) -> String {
    let mut lines = String::with_capacity(json.len() * 2);
    let (mut depth, mut in_string) = (0_usize, false);
    let mut characters = json.chars().peekable();
    while let Some(character) = characters.next() {
        if !in_string && matches!(character, '}' | ']') {
            depth = depth.saturating_sub(1);
            begin_line(&mut lines, depth * indent);
        }
        lines.push(character);
        match character {
            '\\' if in_string => lines.extend(characters.next()),
            '"' => in_string = !in_string,
            _ if in_string => {}
            '{' | '[' => {
                if let Some(close) = characters.next_if(|next| matches!(next, '}' | ']')) {
                    lines.push(close);
                } else {
                    depth += 1;
                    begin_line(&mut lines, depth * indent);
                }
            }
            ',' => begin_line(&mut lines, depth * indent),
            ':' => lines.push(' '),
            _ => {}
        }
    }
    lines
}

fn begin_line(lines: &mut String, indent: usize) {
    lines.push('\n');
    lines.extend(std::iter::repeat_n(' ', indent));
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn every_member_has_a_line_and_texts_stay_as_they_are() {
        let json = r#"{"a":[],"b":{},"c":[1,{"d":"x: {\"y\", [z]}\\"}],"e":null}"#;
        let lines = r#"{
    "a": [],
    "b": {},
    "c": [
        1,
        {
            "d": "x: {\"y\", [z]}\\"
        }
    ],
    "e": null
}"#;
        assert_eq!(pretty_printed(json, 4), lines);
    }

    #[test]
    fn an_indentation_is_asked_for_with_the_media_type_and_is_eight_at_most() {
        for (accept, indent) in [
            ("application/json; indent=4", Some(4)),
            ("text/html, application/json;q=0.5;indent=2", Some(2)),
            ("application/json; indent=99", Some(8)),
            ("application/json; indent=0", None),
            ("application/json; indent=-1", None),
            ("application/json; indent=x", None),
            ("application/json", None),
            ("*/*; indent=4", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT, HeaderValue::from_static(accept));
            assert_eq!(requested(&headers), indent, "{accept}");
        }
    }
}
