//! Accounts for operators: create, list, deactivate, set passwords. The command line, the
//! administration and the first start use these functions. Login is in `service` and
//! `session`.

pub(crate) mod manage;
pub(crate) mod own;
mod store;

pub(crate) use store::lock;

use db::{Db, Timestamp, Tx};
use resource::{Named, id, resource, several, text, time, truth};

use super::{
    HashFault, Passwords, Tokens, end_access,
    password::{LIKE_EMAIL, LIKE_FIRST_NAME, LIKE_LAST_NAME, check_likeness, check_strength},
    session::store as sessions,
};
use crate::{
    State,
    access::{Actor, Model, Permission},
    audit::{self, Action, FieldChange},
    listing::{Condition, Test},
    rest::{Message, Refusal, list::Filters, page::Page, query::Parameters},
    work::Author,
};

/// The most characters of a username.
pub const NAME_MAX: usize = 150;
/// The most characters of a first or last name.
const PERSON_MAX: usize = 150;
/// The most characters of an e-mail address (RFC 5321).
const EMAIL_MAX: usize = 254;

resource! {
    /// An account. The alias of its table is `u`.
    pub struct User, UserInput {
        id: i64 = id().hidden(),
        username: String = text("Usuário", "Username", NAME_MAX).name().listed_for_staff()
            .help("Até 150 letras, algarismos e @ . + - _.", "150 characters or fewer. Letters, digits and @ . + - _ only."),
        first_name: String = text("Nome", "First name", PERSON_MAX).or_blank().personal().listed_for_staff()
            .section("Dados pessoais", "Personal info"),
        last_name: String = text("Sobrenome", "Last name", PERSON_MAX).or_blank().personal().listed_for_staff(),
        email: String = text("E-mail", "Email address", EMAIL_MAX).or_blank().email().personal().listed_for_staff(),
        active: bool = truth("Ativo", "Active").filtered().listed_for_staff()
            .help("Desmarque em vez de excluir a conta: as sessões dela acabam na hora.", "Untick this instead of deleting the account: its sessions end at once."),
        staff: bool = truth("Equipe", "Staff status").filtered().listed_for_staff()
            .help("Pode acessar a administração.", "Can log in to the administration."),
        superuser: bool = truth("Superusuário", "Superuser status").filtered()
            .help("Tem todas as permissões, sem que seja preciso marcá-las.", "Has all permissions without being given them one by one."),
        groups: Vec<Named> = several("Grupos", "Groups", "groups").filtered().read_from(store::GROUPS)
            .section("Acesso", "Access")
            .help("O usuário recebe todas as permissões dos grupos dele.", "The user gets all permissions of their groups."),
        permissions: Vec<Permission> = several("Permissões", "Permissions", Permission::PATH).read_from(store::PERMISSIONS)
            .section("Permissões próprias", "Own permissions")
            .help("Permissões específicas deste usuário.", "Permissions for this user only."),
        last_login: Option<Timestamp> = time("Último acesso", "Last login").listed_for_staff(),
        tokens_valid_from: Option<Timestamp> = time("Tokens valem desde", "Tokens valid from").hidden(),
        date_joined: Timestamp = time("Cadastrado em", "Date joined").read_from("u.created_at"),
    }
}

impl User {
    /// Personal data that a password may not resemble, each with the message if it does.
    pub(crate) fn person(&self) -> [(Message, &str); 3] {
        [
            (LIKE_FIRST_NAME, &self.first_name),
            (LIKE_LAST_NAME, &self.last_name),
            (LIKE_EMAIL, &self.email),
        ]
    }

    /// The names of the account's groups.
    pub fn group_names(&self) -> Vec<String> {
        self.groups.iter().map(|group| group.name.clone()).collect()
    }
}

/// An account to create.
#[derive(Clone)]
pub struct NewUser {
    /// The username.
    pub username: String,
    /// The password in plain text.
    pub password: String,
    /// The name of the group, if any.
    pub group: Option<String>,
    /// Whether the account has all permissions.
    pub superuser: bool,
}

/// The reason why nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum UserError {
    /// The name is empty, too long, or has invalid characters.
    #[error("a name has 1 to {NAME_MAX} letters, digits and @ . + - _")]
    Name,
    /// An account has this name already.
    #[error("there is a user of this name already")]
    Taken,
    /// The password is too weak.
    #[error("{0}")]
    Password(Message),
    /// The user does not exist.
    #[error("there is no user of this name")]
    UnknownUser,
    /// The group does not exist.
    #[error("there is no group of this name")]
    UnknownGroup,
    /// The password could not be hashed.
    #[error(transparent)]
    Hash(#[from] HashFault),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] db::Error),
}

web::masked_debug!(NewUser);

/// Creates an account and returns its id.
pub async fn create(
    db: &Db,
    passwords: &Passwords,
    now: Timestamp,
    user: NewUser,
) -> Result<i64, UserError> {
    let (user, hash) = prepare(passwords, user).await?;
    db.write(async move |tx| insert(tx, &user, &hash, now).await)
        .await
}

/// Creates the first account, a superuser. Returns `false` if there is an account already.
pub async fn create_first(
    db: &Db,
    passwords: &Passwords,
    now: Timestamp,
    username: String,
    password: String,
) -> Result<bool, UserError> {
    if db.read(async |conn| store::is_anybody(conn).await).await? {
        return Ok(false);
    }
    let user = NewUser {
        username,
        password,
        group: None,
        superuser: true,
    };
    let (user, hash) = prepare(passwords, user).await?;
    let created = db
        .write(async move |tx| {
            if store::is_anybody(tx).await? {
                return Ok(false);
            }
            insert(tx, &user, &hash, now).await.map(|_| true)
        })
        .await;
    match created {
        // Another replica has created the account meanwhile.
        Err(UserError::Taken) => Ok(false),
        created => created,
    }
}

/// Validates name and password, and hashes the password outside of the transaction.
async fn prepare(passwords: &Passwords, mut user: NewUser) -> Result<(NewUser, String), UserError> {
    user.username = user.username.trim().to_owned();
    check(&user.username, &user.password)?;
    let hash = passwords.hash(user.password.trim().to_owned()).await?;
    Ok((user, hash))
}

/// Checks name and password of a new account as far as that is possible without the database.
///
/// # Errors
/// [`UserError::Name`] and [`UserError::Password`]
pub fn check(username: &str, password: &str) -> Result<(), UserError> {
    let username = username.trim();
    if !is_username(username) {
        return Err(UserError::Name);
    }
    check_strength(password.trim(), username).map_err(UserError::Password)
}

/// Whether an account may have this name.
pub fn is_username(name: &str) -> bool {
    (1..=NAME_MAX).contains(&name.chars().count()) && name.chars().all(is_name)
}

fn is_name(character: char) -> bool {
    character.is_alphanumeric() || "@.+-_".contains(character)
}

/// Checks and hashes a password. Trims it, as every login does.
async fn hash(passwords: &Passwords, username: &str, password: &str) -> Result<String, UserError> {
    let password = password.trim();
    check_strength(password, username).map_err(UserError::Password)?;
    Ok(passwords.hash(password.to_owned()).await?)
}

async fn insert(tx: &mut Tx, user: &NewUser, hash: &str, now: Timestamp) -> Result<i64, UserError> {
    let id = match store::insert(tx, &user.username, Some(hash), user.superuser, now).await {
        Err(error) if error.is_unique("users_username_key") => return Err(UserError::Taken),
        inserted => inserted?,
    };
    if let Some(group) = &user.group
        && !store::join_group(tx, id, group).await?
    {
        return Err(UserError::UnknownGroup);
    }
    let author = Author::of(Actor(None), now);
    let (work, name) = (&mut author.work(tx), &user.username);
    audit::record(work, Action::Added, Model::User, id, name).await?;
    Ok(id)
}

/// Sets the password of a user, and ends the user's sessions.
pub async fn set_password(
    db: &Db,
    passwords: &Passwords,
    now: Timestamp,
    username: &str,
    password: &str,
    tokens: Tokens,
) -> Result<(), UserError> {
    let mut users = list(db).await?.into_iter();
    let user = users.find(|user| user.username == username);
    let user = user.ok_or(UserError::UnknownUser)?;
    check_likeness(password.trim(), &user.person()).map_err(UserError::Password)?;
    let hash = hash(passwords, username, password).await?;
    let (id, username) = (user.id, user.username);
    db.write(async move |tx| {
        if !store::set_password(tx, id, Some(&hash), now).await? {
            return Err(UserError::UnknownUser);
        }
        let author = Author::of(Actor(None), now);
        tokens.settle(&mut author.work(tx), id).await?;
        record_changes(tx, tokens.changed(), id, &username, now).await?;
        Ok(sessions::delete_of_user(tx, id).await?)
    })
    .await
}

/// Activates or deactivates an account. Deactivation ends its sessions and tokens at once.
pub async fn set_active(
    db: &Db,
    now: Timestamp,
    username: &str,
    active: bool,
) -> Result<(), UserError> {
    let username = username.to_owned();
    db.write(async move |tx| {
        let changed = store::set_active(tx, &username, active, now).await?;
        let id = changed.ok_or(UserError::UnknownUser)?;
        record_changes(tx, &["active"], id, &username, now).await?;
        if !active {
            end_access(tx, id, now).await?;
        }
        Ok(())
    })
    .await
}

/// All users, by name.
pub async fn list(db: &Db) -> Result<Vec<User>, db::Error> {
    db.read(async |conn| store::all(conn).await).await
}

/// The page of users that a request selects. A search covers names and e-mail addresses.
pub(crate) async fn page(state: &State, parameters: &Parameters) -> Result<Page<User>, Refusal> {
    let mut filters = Filters::new(parameters);
    let group = filters.id("groups");
    let group = group.map(|id| Condition::new("id", "id", Test::IsAmong(store::OF_GROUP, id)));
    let mut conditions: Vec<_> = group.into_iter().collect();
    for field in [User::active, User::staff, User::superuser] {
        let is_true = filters.truth(field.name).map(Test::is);
        conditions.extend(is_true.map(|test| Condition::new(field.name, field.name, test)));
    }
    filters.finish().into_result()?;
    let users = store::LIST.select(parameters, "searched", conditions);
    users.requested(state, parameters).await
}

/// As [`page`], for the list of refresh tokens. A search covers usernames.
pub(crate) async fn token_holders(
    state: &State,
    parameters: &Parameters,
) -> Result<Page<User>, Refusal> {
    let users = store::TOKEN_HOLDERS.select(parameters, "username_folded", []);
    users.requested(state, parameters).await
}

/// Reads one user.
pub async fn read(db: &Db, id: i64) -> Result<Option<User>, db::Error> {
    db.read(async move |conn| store::read(conn, id).await).await
}

/// Writes an audit entry for a change by a command or by the first start, which have no user.
async fn record_changes(
    tx: &mut Tx,
    fields: &[&str],
    id: i64,
    name: &str,
    now: Timestamp,
) -> Result<(), db::Error> {
    let author = Author::of(Actor(None), now);
    let changes = FieldChange::all_named(fields);
    audit::record_changes(&mut author.work(tx), &changes, Model::User, id, name).await
}
