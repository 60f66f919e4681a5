//! What the forms of accounts and groups send, and its validation.

use crate::{
    accounts::{
        Permission, Tokens,
        pages::posted,
        password::{PersonalData, check_likeness, check_strength},
        users::{NAME_MAX, is_name, own},
    },
    rest::{
        Message,
        fields::{FieldErrors, Members, Mode, Reader},
    },
};

const NOT_A_NAME: Message = Message::fixed(
    "Digite um nome válido: só letras, algarismos e @ . + - _.",
    "Enter a valid username. This value may contain only letters, numbers, and @/./+/-/_ characters.",
);
const NOT_THE_SAME: Message = Message::fixed(
    "As duas senhas não são iguais.",
    "The two password fields didn’t match.",
);

/// The password of an account.
pub(super) enum NewPassword {
    /// This one.
    Text(String),
    /// None: nobody logs in with a password.
    Unusable,
}

/// What is changed of an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Profile {
    pub(super) username: String,
    pub(super) email: String,
    pub(super) first_name: String,
    pub(super) last_name: String,
    pub(super) active: bool,
    pub(super) staff: bool,
    pub(super) superuser: bool,
    pub(super) groups: Vec<i64>,
    pub(super) permissions: Vec<Permission>,
}

impl Profile {
    pub(super) fn read(members: &Members) -> (Self, FieldErrors) {
        let (username, mut errors) = username(members);
        let person = own::read_profile(members).unwrap_or_else(|wrong| {
            for (field, messages) in wrong.iter() {
                for message in messages {
                    errors.add(field, message.clone());
                }
            }
            own::Profile::default()
        });
        let profile = Self {
            username,
            email: person.email,
            first_name: person.first_name,
            last_name: person.last_name,
            active: is_ticked(members, "active"),
            staff: is_ticked(members, "staff"),
            superuser: is_ticked(members, "superuser"),
            groups: chosen(members, "groups"),
            permissions: chosen(members, "permissions"),
        };
        (profile, errors)
    }
}

/// The name of an account, checked.
pub(super) fn username(members: &Members) -> (String, FieldErrors) {
    let mut reader = Reader::new(members, Mode::Whole);
    let username = reader.text("username", NAME_MAX);
    let mut errors = reader.finish();
    if username
        .as_ref()
        .is_some_and(|name| !name.chars().all(is_name))
    {
        errors.add("username", NOT_A_NAME);
    }
    (username.unwrap_or_default(), errors)
}

/// A new password, entered twice; or none, when the form says that the account has none.
/// `person` is what is known of the account's owner.
pub(super) fn password(
    members: &Members,
    username: &str,
    person: &[(PersonalData, &str)],
    errors: &mut FieldErrors,
) -> NewPassword {
    if posted::text(members, "usable").as_deref() == Some("0") {
        return NewPassword::Unusable;
    }
    let sent = |field| posted::text(members, field).unwrap_or_default();
    let (first, second) = (sent("password1"), sent("password2"));
    let (first, second) = (first.trim(), second.trim());
    for (field, text) in [("password1", first), ("password2", second)] {
        if text.is_empty() {
            errors.add(field, Message::REQUIRED);
        }
    }
    if !first.is_empty() && !second.is_empty() {
        if first != second {
            errors.add("password2", NOT_THE_SAME);
        } else if let Err(weak) =
            check_strength(first, username).and_then(|()| check_likeness(first, person))
        {
            errors.add("password2", weak.message());
        }
    }
    NewPassword::Text(first.to_owned())
}

/// What is to become of the tokens of an account whose password is changed.
pub(super) fn tokens(members: &Members) -> Tokens {
    Tokens::revoked_if(is_ticked(members, "revoke_tokens"))
}

/// Whether a box was ticked.
fn is_ticked(members: &Members, name: &str) -> bool {
    posted::text(members, name).is_some_and(|value| value != "0")
}

/// The values of the ticked boxes of a field: `groups:3`, `permissions:add_brand`.
pub(super) fn chosen<T: std::str::FromStr>(members: &Members, field: &str) -> Vec<T> {
    let values = members.keys().filter_map(|name| {
        let value = name.strip_prefix(field)?.strip_prefix(':')?;
        value.parse().ok()
    });
    values.collect()
}
