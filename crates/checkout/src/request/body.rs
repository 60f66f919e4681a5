//! The request body, and the members that it may have.

use std::borrow::Cow;

use axum::body::{Body, HttpBody};
use brazil::holds_card_number;
use bytes::Bytes;
use http_body_util::{BodyExt, Collected, LengthLimitError, Limited};
use web::text::is_invisible;

use super::Refusal;
use super::text::checked_to;
use crate::json::{NotAnObject, Object, Value, elements, unescape};

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

/// Parses a body that must be one JSON object in UTF-8 without duplicate members.
fn object(body: &[u8]) -> Result<Object<'_>, Refusal> {
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

fn is_name(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    (1..=64).contains(&text.len()) && text.bytes().all(is_plain) && !holds_card_number(text)
}

/// Refusal of a string with an unpaired surrogate.
pub(crate) fn not_unicode() -> Refusal {
    Refusal::unprocessable("body", "must be valid Unicode")
}

/// The members of a body, or of an object in it.
pub(crate) struct Members<'a> {
    /// The prefix of the members' names in problem reports, such as `items[0].`.
    path: String,
    object: Object<'a>,
}

/// A member with its string decoded.
pub(crate) enum Member {
    /// Missing, `null`, or a string that is blank after trimming.
    Absent,
    Text(String),
    Other,
}

impl<'a> Members<'a> {
    /// Splits a body into members; see [`object`].
    pub(crate) fn of_body(body: &'a [u8]) -> Result<Self, Refusal> {
        let (path, object) = (String::new(), object(body)?);
        Ok(Self { path, object })
    }

    /// The members of the object at `path`. Refuses those that are not in `known`.
    pub(crate) fn of_value(
        path: String,
        value: Value<'a>,
        known: &[&str],
    ) -> Result<Self, Refusal> {
        let object = value.object().filter(|object| !object.repeats_a_member());
        let Some(object) = object else {
            let reason = "must be an object with no member twice";
            return Err(Refusal::invalid(path, reason));
        };
        let members = Self {
            path: format!("{path}."),
            object,
        };
        members.refuse_unknown(known)?;
        Ok(members)
    }

    /// Refuses members that are not in `known`.
    pub(crate) fn refuse_unknown(&self, known: &[&str]) -> Result<(), Refusal> {
        match self.object.names().find(|name| !known.contains(name)) {
            None => Ok(()),
            Some(name) if is_name(name) => {
                let name = format!("{}{name}", self.path);
                Err(Refusal::invalid(name, "is not a known member"))
            }
            // A name that cannot be a typo of one of ours is not repeated in the response.
            Some(_) => Err(Refusal::unprocessable("body", "has an unknown member")),
        }
    }

    /// Refuses the request if one of `fields` is absent, and names the first.
    pub(super) fn require(&self, fields: &[&'static str]) -> Result<(), Refusal> {
        match self.find(fields, true)? {
            Some(field) => Err(Refusal::missing(self.name(field))),
            None => Ok(()),
        }
    }

    /// Refuses the request if one of `fields` is present, and names the first.
    pub(super) fn refuse(&self, fields: &[&'static str], reason: &str) -> Result<(), Refusal> {
        match self.find(fields, false)? {
            Some(field) => Err(self.refused(field, reason)),
            None => Ok(()),
        }
    }

    /// The first of `fields` that is absent, or that is not.
    fn find(
        &self,
        fields: &[&'static str],
        is_absent: bool,
    ) -> Result<Option<&'static str>, Refusal> {
        for field in fields {
            if matches!(self.get(field)?, Member::Absent) == is_absent {
                return Ok(Some(field));
            }
        }
        Ok(None)
    }

    /// A member's path in problem reports, such as `items[0].quantity`.
    pub(crate) fn name(&self, member: &'static str) -> Cow<'static, str> {
        if self.path.is_empty() {
            member.into()
        } else {
            format!("{}{member}", self.path).into()
        }
    }

    pub(crate) fn refused(&self, member: &'static str, reason: &str) -> Refusal {
        Refusal::invalid(self.name(member), reason)
    }

    /// The value of a member, for callers that check its JSON type themselves.
    pub(crate) fn value(&self, name: &str) -> Value<'a> {
        self.object.get(name)
    }

    /// A member. Fails for a string with an unpaired surrogate.
    pub(crate) fn get(&self, name: &str) -> Result<Member, Refusal> {
        Ok(match self.value(name) {
            Value::Null => Member::Absent,
            Value::Text(source) => match unescape(source).ok_or_else(not_unicode)? {
                text if text.chars().all(is_invisible) => Member::Absent,
                text => Member::Text(text),
            },
            Value::Number(_) | Value::Other(_) => Member::Other,
        })
    }

    /// A string. `None` if the member is absent.
    pub(crate) fn string(&self, name: &'static str) -> Result<Option<String>, Refusal> {
        match self.get(name)? {
            Member::Absent => Ok(None),
            Member::Text(text) => Ok(Some(text)),
            Member::Other => Err(self.refused(name, "must be a string")),
        }
    }

    /// A string that must be there.
    pub(super) fn required_string(&self, name: &'static str) -> Result<String, Refusal> {
        self.string(name)?
            .ok_or_else(|| Refusal::missing(self.name(name)))
    }

    /// A text of at most `most` characters; see [`checked_to`].
    pub(crate) fn text(&self, name: &'static str, most: usize) -> Result<Option<String>, Refusal> {
        let text = self.string(name)?;
        text.map(|text| checked_to(self.name(name), &text, most))
            .transpose()
    }

    /// A text that must be there.
    pub(crate) fn required_text(&self, name: &'static str, most: usize) -> Result<String, Refusal> {
        self.text(name, most)?
            .ok_or_else(|| Refusal::missing(self.name(name)))
    }

    /// The object in a member. `None` if the member is absent.
    pub(crate) fn object(
        &self,
        name: &'static str,
        known: &[&str],
    ) -> Result<Option<Members<'a>>, Refusal> {
        match self.value(name) {
            Value::Null => Ok(None),
            value => Self::of_value(self.name(name).into_owned(), value, known).map(Some),
        }
    }

    /// The elements of the list in a member. `None` if the member is absent.
    pub(crate) fn list(&self, name: &'static str) -> Result<Option<Vec<Value<'a>>>, Refusal> {
        match self.value(name) {
            Value::Null => Ok(None),
            value @ Value::Other(text) if text.starts_with('[') => Ok(Some(elements(value))),
            _ => Err(self.refused(name, "must be a list")),
        }
    }

    /// An integer literal from 1 to `most`. `None` if the member is absent.
    pub(crate) fn count(&self, name: &'static str, most: i64) -> Result<Option<i64>, Refusal> {
        let value = self.value(name);
        if value == Value::Null {
            return Ok(None);
        }
        let source = match value {
            Value::Number(source) => source,
            Value::Null | Value::Text(_) | Value::Other(_) => "",
        };
        let digits = source.strip_prefix('-').unwrap_or(source);
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(self.refused(name, "must be an integer"));
        }
        // An integer that is too large for the type is out of range like any other.
        let count = source.parse().ok();
        let count = count.filter(|count| (1..=most).contains(count));
        let refused = || self.refused(name, &format!("must be between 1 and {most}"));
        count.map(Some).ok_or_else(refused)
    }
}
