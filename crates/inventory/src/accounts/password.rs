//! Passwords: their strength, and hashing with Argon2id by OWASP's parameters. Verification takes
//! equally long with and without an account.

use std::sync::Arc;

use argon2::{
    Algorithm, Argon2, Params, Version,
    password_hash::{PasswordHasher as _, PasswordVerifier as _, phc::PasswordHash},
};
use tokio::sync::Semaphore;
use web::Random;

use super::common_passwords;
use crate::rest::Message;

/// The shortest password, in characters.
pub(super) const MIN_LENGTH: usize = 12;
/// The longest password, in bytes. Longer ones add no security and take time to hash.
pub(super) const MAX_LENGTH: usize = 1024;
/// The most concurrent hashes. Each takes 19 MiB of memory and one core.
const CONCURRENCY: usize = 2;
/// The hash that takes the place of a missing one. It is as costly, and all zeros, which is the hash of no known password.
const NOBODYS_HASH: &str = "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// Folded words that anybody would try first at this program.
const FIRST_TRIED: [&str; 8] = [
    "balcao",
    "estoque",
    "inventario",
    "inventory",
    "loja",
    "minhaloja",
    "pagamentos",
    "shop",
];

const TOO_COMMON: Message =
    Message::fixed("Esta senha é comum demais.", "This password is too common.");
const ENTIRELY_NUMERIC: Message = Message::fixed(
    "Esta senha só tem algarismos.",
    "This password is entirely numeric.",
);
const LIKE_USERNAME: Message = Message::fixed(
    "A senha é parecida demais com o nome de usuário.",
    "The password is too similar to the username.",
);
pub(super) const LIKE_FIRST_NAME: Message = Message::fixed(
    "A senha é parecida demais com o nome.",
    "The password is too similar to the first name.",
);
pub(super) const LIKE_LAST_NAME: Message = Message::fixed(
    "A senha é parecida demais com o sobrenome.",
    "The password is too similar to the last name.",
);
pub(super) const LIKE_EMAIL: Message = Message::fixed(
    "A senha é parecida demais com o e-mail.",
    "The password is too similar to the email address.",
);

fn too_short() -> Message {
    Message::new(
        format!("A senha é curta demais: use ao menos {MIN_LENGTH} caracteres."),
        format!("This password is too short. It must contain at least {MIN_LENGTH} characters."),
    )
}

fn too_long() -> Message {
    Message::new(
        "A senha é longa demais.",
        format!("This password is too long. It must contain at most {MAX_LENGTH} bytes."),
    )
}

/// Checks the strength of a new password. The error is the message about the first rule that it
/// violates.
pub fn check_strength(password: &str, username: &str) -> Result<(), Message> {
    if password.chars().count() < MIN_LENGTH {
        return Err(too_short());
    }
    if password.len() > MAX_LENGTH {
        return Err(too_long());
    }
    if is_like(password, username) {
        return Err(LIKE_USERNAME);
    }
    if password.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(ENTIRELY_NUMERIC);
    }
    let is_first_tried = FIRST_TRIED
        .iter()
        .any(|word| has_letters_of(password, word));
    if is_first_tried || common_passwords::contains(&db::fold(password)) || is_monotonous(password)
    {
        Err(TOO_COMMON)
    } else {
        Ok(())
    }
}

/// Checks a new password against public data about the user, each with the message for a password
/// that resembles it.
pub(crate) fn check_likeness(password: &str, person: &[(Message, &str)]) -> Result<(), Message> {
    for (message, text) in person {
        let mut parts = text.split(|character: char| !character.is_alphanumeric());
        // Parts of up to three letters occur in too many passwords.
        if parts.any(|part| part.chars().count() > 3 && is_like(password, part)) {
            return Err(message.clone());
        }
    }
    Ok(())
}

/// Whether a password is this name with digits and signs added, or begins with it.
fn is_like(password: &str, name: &str) -> bool {
    let name = db::fold(name);
    let begins = || db::fold(password).starts_with(&name);
    !name.is_empty() && (has_letters_of(password, &name) || begins())
}

/// Whether a password is this folded word with digits and signs added.
fn has_letters_of(password: &str, word: &str) -> bool {
    let folded = db::fold(password);
    let letters = folded.chars().filter(|character| character.is_alphabetic());
    letters.eq(word.chars())
}

/// Whether a password has fewer than five different characters, or consists of consecutive
/// characters.
fn is_monotonous(password: &str) -> bool {
    let mut distinct: Vec<char> = password.chars().collect();
    let steps = distinct
        .windows(2)
        .filter(|pair| matches!(pair, [a, b] if u32::from(*b).abs_diff(u32::from(*a)) <= 1))
        .count();
    let is_run = steps + 2 >= distinct.len();
    distinct.sort_unstable();
    distinct.dedup();
    is_run || distinct.len() < 5
}

/// Hashes and verifies passwords on blocking threads, two at a time.
#[derive(Debug)]
pub struct Passwords {
    slots: Arc<Semaphore>,
    random: Random,
}

/// Hashing failed, or its thread did.
#[derive(Debug, thiserror::Error)]
#[error("a password could not be hashed: {0}")]
pub struct HashFault(String);

impl Passwords {
    /// Takes the salts from `random`.
    pub fn new(random: Random) -> Self {
        Self {
            slots: Arc::new(Semaphore::new(CONCURRENCY)),
            random,
        }
    }

    /// Hashes a new password.
    pub async fn hash(&self, password: String) -> Result<String, HashFault> {
        let random = self.random.clone();
        self.on_blocking_thread(move || hash_now(&password, &random))
            .await?
    }

    /// Whether a password matches a hash. `None` takes equally long and returns false.
    pub async fn verify(&self, password: String, hash: Option<String>) -> Result<bool, HashFault> {
        let has_account = hash.is_some();
        let hash = hash.unwrap_or_else(|| NOBODYS_HASH.to_owned());
        let is_right = self
            .on_blocking_thread(move || matches(&password, &hash))
            .await?;
        Ok(is_right && has_account)
    }

    async fn on_blocking_thread<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, HashFault> {
        let slot = self.slots.clone().acquire_owned().await;
        let slot = slot.map_err(|error| HashFault(error.to_string()))?;
        // The work goes on when its caller has hung up, and keeps its slot until its end.
        let work = move || {
            let _slot = slot;
            work()
        };
        tokio::task::spawn_blocking(work)
            .await
            .map_err(|error| HashFault(error.to_string()))
    }
}

/// Argon2id with 19 MiB, two passes, one lane: OWASP's Password Storage Cheat Sheet.
fn hasher() -> Argon2<'static> {
    Argon2::new(Algorithm::Argon2id, Version::V0x13, Params::DEFAULT)
}

fn hash_now(password: &str, random: &Random) -> Result<String, HashFault> {
    let mut salt = [0; 16];
    random.fill(&mut salt);
    let hash = hasher().hash_password_with_salt(password.as_bytes(), &salt);
    hash.map(|hash| hash.to_string())
        .map_err(|error| HashFault(error.to_string()))
}

fn matches(password: &str, hash: &str) -> bool {
    PasswordHash::new(hash)
        .is_ok_and(|hash| hasher().verify_password(password.as_bytes(), &hash).is_ok())
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::task::Poll;

    use super::*;

    #[tokio::test]
    async fn only_the_password_that_was_hashed_verifies() {
        let passwords = Passwords::new(Random::seeded(1));
        let hash = passwords
            .hash("correct horse battery".to_owned())
            .await
            .unwrap();
        let [actual, nobodys] = [hash.as_str(), NOBODYS_HASH]
            .map(|hash| PasswordHash::new(hash).expect("a hash in PHC format"));
        assert_eq!(actual.algorithm, nobodys.algorithm);
        assert_eq!(actual.version, nobodys.version);
        assert_eq!(actual.params, nobodys.params);
        for (password, hash, is_right) in [
            ("correct horse battery", Some(hash.as_str()), true),
            ("correct horse batterx", Some(&hash), false),
            ("nobody has this password", None, false),
            ("x", Some("no hash"), false),
        ] {
            let verified = passwords.verify(password.to_owned(), hash.map(str::to_owned));
            assert_eq!(verified.await.unwrap(), is_right, "{password}");
        }
    }

    #[tokio::test]
    async fn a_caller_who_hangs_up_frees_no_slot_before_the_work_ends() {
        let passwords = Passwords::new(Random::seeded(1));
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let mut work = Box::pin(passwords.on_blocking_thread(move || ended.recv()));
        let begun = poll_fn(|context| Poll::Ready(work.as_mut().poll(context)));
        assert!(begun.await.is_pending());
        drop(work);
        assert_eq!(passwords.slots.available_permits(), CONCURRENCY - 1);
        drop(end);
        let all = u32::try_from(CONCURRENCY).unwrap();
        assert!(passwords.slots.acquire_many(all).await.is_ok());
    }

    #[test]
    fn a_password_resembles_its_owner_when_it_is_one_of_their_names_with_signs_around_it() {
        let person = [
            (LIKE_FIRST_NAME, "Ana"),
            (LIKE_EMAIL, "ana.souza@loja.example"),
        ];
        let like = Err(LIKE_EMAIL);
        for (password, expected) in [
            ("Souza-2026-!!", like.clone()),
            ("2026 souza 99", like),
            ("quatro souzas pretas", Ok(())),
            ("ana vende muito bem", Ok(())),
        ] {
            assert_eq!(check_likeness(password, &person), expected, "{password}");
        }
    }

    #[test]
    fn passwords_that_are_guessed_first_are_refused() {
        for (password, why) in [
            ("short", too_short()),
            ("password1234", TOO_COMMON),
            ("Senha!2026!!", TOO_COMMON),
            ("123456789012", ENTIRELY_NUMERIC),
            ("998877665544", ENTIRELY_NUMERIC),
            ("aaaaaaaaaaaa", TOO_COMMON),
            ("abcdefghijkl", TOO_COMMON),
            ("mariana-2026", LIKE_USERNAME),
            ("qwerty123456", TOO_COMMON),
            ("1q2w3e4r5t6y", TOO_COMMON),
            ("1qaz2wsx3edc", TOO_COMMON),
            ("Q1w2e3r4t5y6", TOO_COMMON),
            ("123456789abc", TOO_COMMON),
            ("P@ssw0rd1234", TOO_COMMON),
            ("P@$$word-1234!", TOO_COMMON),
            ("minhasenha123", TOO_COMMON),
            ("Mudar@123456", TOO_COMMON),
            ("Flamengo@1981", TOO_COMMON),
            ("adminadmin12", TOO_COMMON),
            ("trustno1trustno1", TOO_COMMON),
            ("unbelievable", TOO_COMMON),
            ("correcthorsebatterystaple", TOO_COMMON),
        ] {
            assert_eq!(check_strength(password, "mariana"), Err(why), "{password}");
        }
        assert_eq!(
            check_strength(&"a1b2c".repeat(300), "mariana"),
            Err(too_long())
        );
    }

    #[test]
    fn a_word_of_the_shop_with_a_year_is_none() {
        for password in ["inventory2026", "estoque-2026!", "Inventário-2026"] {
            let refused = check_strength(password, "mariana");
            assert_eq!(refused, Err(TOO_COMMON), "{password}");
        }
    }

    #[test]
    fn a_phrase_is_a_good_password() {
        for password in ["demo-password", "quatro gatos pretos", "X9!kd02-mmQz"] {
            assert_eq!(check_strength(password, "mariana"), Ok(()), "{password}");
        }
    }
}
