//! The forms of accounts and groups, and their validation.

use resource::{Field, text as described};

use crate::{
    accounts::{
        MAX_PASSWORD, Tokens,
        password::{check_likeness, check_strength},
        users::{User, is_name, own},
    },
    rest::{
        Message,
        body::text,
        fields::{Draft, FieldErrors, Members, Mode},
    },
};

pub(crate) const PASSWORD: &Field = &described::<String>("Senha", "Password", MAX_PASSWORD)
    .secret()
    .help(
        "Ao menos 12 caracteres. Não pode ser comum, só de algarismos, nem parecida com o nome de usuário ou outros dados da conta.",
        "At least 12 characters. It must not be common, entirely numeric, or similar to the username or other data of the account.",
    )
    .named("password1");

/// The confirmation of [`PASSWORD`].
pub(crate) const REPEATED_PASSWORD: &Field = &described::<String>(
    "Confirmação da senha",
    "Password confirmation",
    MAX_PASSWORD,
)
.secret()
.help("Repita a senha.", "Repeat the password.")
.named("password2");

const NOT_A_NAME: Message = Message::fixed(
    "Digite um nome válido: só letras, algarismos e @ . + - _.",
    "Enter a valid username. This value may contain only letters, numbers, and @/./+/-/_ characters.",
);
const NOT_THE_SAME: Message = Message::fixed(
    "As duas senhas não são iguais.",
    "The two password fields didn’t match.",
);

/// Reads the username of a new account.
pub(super) fn username(members: &Members) -> Draft<User> {
    let mut draft = Draft::read_fields(&[User::username], members, Mode::Whole);
    check_name(&mut draft);
    draft
}

/// Reads the form of an existing account.
pub(super) fn account(members: &Members) -> Draft<User> {
    let mut draft = Draft::read(members, Mode::Whole);
    check_name(&mut draft);
    own::check_email(&mut draft);
    draft
}

fn check_name(draft: &mut Draft<User>) {
    let name = draft.input.username.as_deref().unwrap_or_default();
    if !name.chars().all(is_name) {
        draft.errors.add("username", NOT_A_NAME);
    }
}

/// Reads a new password and its confirmation. The password may not resemble the data of `person`.
/// `None` if the account gets no password, so that nobody can log in with one.
pub(super) fn password(
    members: &Members,
    username: &str,
    person: &[(Message, &str)],
    errors: &mut FieldErrors,
) -> Option<String> {
    if text(members, "usable").as_deref() == Some("0") {
        return None;
    }
    let value_of = |field| text(members, field).unwrap_or_default();
    let (first, second) = (value_of(PASSWORD.name), value_of(REPEATED_PASSWORD.name));
    let (first, second) = (first.trim(), second.trim());
    for (field, text) in [(PASSWORD.name, first), (REPEATED_PASSWORD.name, second)] {
        if text.is_empty() {
            errors.add(field, Message::REQUIRED);
        }
    }
    if !first.is_empty() && !second.is_empty() {
        if first != second {
            errors.add(REPEATED_PASSWORD.name, NOT_THE_SAME);
        } else if let Err(weak) =
            check_strength(first, username).and_then(|()| check_likeness(first, person))
        {
            errors.add(REPEATED_PASSWORD.name, weak);
        }
    }
    Some(first.to_owned())
}

/// Whether a password change revokes the tokens of the account.
pub(super) fn tokens(members: &Members) -> Tokens {
    let ticked = text(members, "revoke_tokens");
    Tokens::revoked_if(ticked.is_some_and(|value| value != "0"))
}
