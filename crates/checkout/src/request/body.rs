//! The request body, and the members that it may have.

use axum::body::{Body, HttpBody};
use brazil::holds_card_number;
use bytes::Bytes;
use http_body_util::{BodyExt, Collected, LengthLimitError, Limited};

use super::{COMMON_FIELDS, MethodKind, Refusal};
use crate::json::{NotAnObject, Object, Value, unescape};

/// Reads a body of at most `limit` bytes.
///
/// # Errors
/// [`Refusal::too_large`] above the limit, at once if the declared length exceeds it. 422 when the
/// body does not arrive completely.
pub async fn read(body: Body, limit: usize) -> Result<Bytes, Refusal> {
    let declared = body.size_hint().exact();
    if declared.is_some_and(|length| usize::try_from(length).is_ok_and(|length| length > limit)) {
        return Err(Refusal::too_large());
    }
    let collected = Limited::new(body, limit).collect().await;
    collected.map(Collected::to_bytes).map_err(|error| {
        if error.is::<LengthLimitError>() {
            Refusal::too_large()
        } else {
            Refusal::unprocessable("body", "did not arrive whole")
        }
    })
}

/// Refuses every content type but JSON in UTF-8. This is checked before the body is read, since the
/// body may be large or never arrive.
///
/// # Errors
/// 422.
pub fn check_content_type(content_type: Option<&str>) -> Result<(), Refusal> {
    let mut parts = content_type.unwrap_or_default().split(';').map(str::trim);
    let is_json = parts
        .next()
        .is_some_and(|essence| essence.eq_ignore_ascii_case("application/json"));
    let is_utf8 = parts.all(|parameter| match parameter.split_once('=') {
        Some((name, value)) if name.trim().eq_ignore_ascii_case("charset") => {
            value.trim().trim_matches('"').eq_ignore_ascii_case("utf-8")
        }
        _ => true,
    });
    if is_json && is_utf8 {
        Ok(())
    } else {
        Err(Refusal::unprocessable(
            "Content-Type",
            "must be application/json",
        ))
    }
}

/// The members of a request besides those of the methods. Any others are ignored.
const MEMBERS: [&str; 2] = ["payment_method", "status"];

/// Parses a body that must be one JSON object in UTF-8 without duplicate members.
pub(crate) fn object(body: &[u8]) -> Result<Object<'_>, Refusal> {
    let refused = |reason| Refusal::unprocessable("body", reason);
    let text = std::str::from_utf8(body).map_err(|_| refused("must be UTF-8"))?;
    let object = Object::parse(text).map_err(|error| match error {
        NotAnObject::Malformed => refused("must be valid JSON"),
        NotAnObject::OtherType => refused("must be a JSON object"),
    })?;
    if object.repeats_a_member() {
        return Err(refused("must not have a member twice"));
    }
    Ok(object)
}

/// Refuses an object with a member that is not in `known`. Its path begins with `path`.
pub(crate) fn refuse_unknown(
    object: &Object<'_>,
    path: &str,
    known: &[&str],
) -> Result<(), Refusal> {
    match object.names().find(|name| !known.contains(name)) {
        None => Ok(()),
        Some(name) if is_name(name) => Err(Refusal::invalid(
            format!("{path}{name}"),
            "is not a known member",
        )),
        // A name that cannot be a typo of one of ours is not repeated in the response.
        Some(_) => Err(Refusal::unprocessable("body", "has an unknown member")),
    }
}

fn is_name(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    (1..=64).contains(&text.len()) && text.bytes().all(is_plain) && !holds_card_number(text)
}

/// Refusal of a string with an unpaired surrogate.
pub(crate) fn not_unicode() -> Refusal {
    Refusal::unprocessable("body", "must be valid Unicode")
}

/// The members of a body, their strings decoded.
pub(super) struct Members<'a> {
    values: Vec<(&'static str, Member<'a>)>,
}

pub(super) enum Member<'a> {
    /// Missing, `null`, or a string that is blank after trimming.
    Absent,
    Text(String),
    Other(Value<'a>),
}

impl<'a> Members<'a> {
    /// Splits a body into members; see [`object`].
    pub(super) fn read(body: &'a [u8]) -> Result<Self, Refusal> {
        let object = object(body)?;
        let of_methods = MethodKind::ALL.into_iter().flat_map(MethodKind::fields);
        let names = COMMON_FIELDS.iter().chain(of_methods).chain(&MEMBERS);
        let value = |name: &&'static str| {
            let member = Member::of(object.get(name)).ok_or_else(not_unicode)?;
            Ok((*name, member))
        };
        let values = names.map(value).collect::<Result<_, Refusal>>()?;
        Ok(Self { values })
    }

    /// Refuses the request if one of `fields` is absent, and names the first.
    pub(super) fn require(&self, fields: &[&'static str]) -> Result<(), Refusal> {
        let is_absent = |field: &&&'static str| matches!(self.get(field), Member::Absent);
        match fields.iter().find(is_absent) {
            Some(field) => Err(Refusal::missing(*field)),
            None => Ok(()),
        }
    }

    /// Refuses the request if one of `fields` is present, and names the first.
    pub(super) fn refuse(&self, fields: &[&'static str], reason: &str) -> Result<(), Refusal> {
        let is_given = |field: &&&'static str| !matches!(self.get(field), Member::Absent);
        match fields.iter().find(is_given) {
            Some(field) => Err(Refusal::invalid(*field, reason)),
            None => Ok(()),
        }
    }

    pub(super) fn get(&self, name: &str) -> &Member<'a> {
        self.values
            .iter()
            .find(|(member, _)| *member == name)
            .map_or(&Member::Absent, |(_, value)| value)
    }

    /// The string in `field`. Any other JSON type is a validation error.
    pub(super) fn text(&self, field: &'static str) -> Result<String, Refusal> {
        match self.get(field) {
            Member::Text(text) => Ok(text.clone()),
            _ => Err(Refusal::invalid(field, "must be a string")),
        }
    }

    /// The value in `field`, for callers that check its JSON type themselves.
    pub(super) fn number(&self, field: &str) -> Value<'a> {
        match self.get(field) {
            Member::Other(value) => *value,
            Member::Text(_) | Member::Absent => Value::Null,
        }
    }
}

impl<'a> Member<'a> {
    /// `None` for a string with an unpaired surrogate.
    fn of(value: Value<'a>) -> Option<Self> {
        Some(match value {
            Value::Null => Member::Absent,
            Value::Text(source) => {
                let text = unescape(source)?;
                if text.trim().is_empty() {
                    Member::Absent
                } else {
                    Member::Text(text)
                }
            }
            other => Member::Other(other),
        })
    }
}
