//! Accounts.

use db::Tx;

use crate::{
    State,
    accounts::{
        Caller, Model, Verb,
        users::{
            self, User,
            manage::{self, Details, NewAccount},
        },
    },
    admin::{
        about::{
            About, Administered, Application, At, By, Cell, Column, Field, FieldKind, Filter,
            Inline, Record, Related, Rows, Target, Within, Words, Work, Written,
        },
        listing::{Asked, shelf},
        models::permissions,
    },
    rest::{Message, Refusal, fields::Members},
};

pub(in crate::admin) struct Users;

pub(in crate::admin) static USERS: Users = Users;

static ABOUT: About = About {
    path: "users",
    application: Application::Accounts,
    words: Words::masculine(("usuário", "user"), ("usuários", "users")),
    model: Model::User,
    columns: &[
        Column::sorted("username"),
        Column::sorted("email"),
        Column::sorted("first_name"),
        Column::sorted("last_name"),
        Column::sorted("staff"),
        Column::sorted("active"),
        Column::sorted("last_login"),
    ],
    order: "1",
    search: Some(("usuário, nome, sobrenome, e-mail", "username, first name, last name, email")),
    filters: &[
        Filter::truth("staff"),
        Filter::truth("superuser"),
        Filter::truth("active"),
        Filter::related("groups", "groups"),
    ],
    fields: &[
        Field::required("username", FieldKind::Line).help(
            "Até 150 letras, algarismos e @ . + - _.",
            "150 characters or fewer. Letters, digits and @ . + - _ only.",
        ),
        Field::required("password1", FieldKind::Password).at(At::Add).help(
            "Ao menos 12 caracteres; nem comum, nem só de algarismos, nem parecida com o nome do usuário ou outros dados seus.",
            "At least 12 characters; not common, not entirely numeric, not similar to the username or other data.",
        ),
        Field::required("password2", FieldKind::Password).at(At::Add).help(
            "A mesma senha, outra vez.",
            "The same password once more.",
        ),
        Field::optional("first_name", FieldKind::Line)
            .at(At::Change)
            .section("Dados pessoais", "Personal info"),
        Field::optional("last_name", FieldKind::Line).at(At::Change),
        Field::optional("email", FieldKind::Email).at(At::Change),
        Field::optional("active", FieldKind::Truth)
            .at(At::Change)
            .section("Permissões", "Permissions")
            .help(
                "Desmarque em vez de excluir a conta: suas sessões acabam na hora.",
                "Untick this instead of deleting the account: its sessions end at once.",
            ),
        Field::optional("staff", FieldKind::Truth)
            .at(At::Change)
            .help("Pode entrar na administração.", "May enter the administration."),
        Field::optional("superuser", FieldKind::Truth).at(At::Change).help(
            "Pode tudo, sem que cada permissão seja dada.",
            "May do everything without being given each permission.",
        ),
        Field::optional("groups", FieldKind::Several("groups")).at(At::Change).help(
            "O usuário recebe todas as permissões dos seus grupos.",
            "The user gets all permissions of their groups.",
        ),
        Field::optional("permissions", FieldKind::Permissions).at(At::Change).help(
            "Permissões só deste usuário.",
            "Permissions of this user alone.",
        ),
    ],
    // Whoever is logged in somewhere can be put out from here.
    inlines: &[Inline::read(
        "sessions",
        "user",
        &["agent", "address", "last_seen_at", "expires_at"],
    )
    .deleted()],
    in_two_steps: true,
    ..About::PLAIN
};

impl Administered for Users {
    fn about(&self) -> &About {
        &ABOUT
    }

    fn list<'a>(&'a self, state: &'a State, asked: &'a Asked) -> Work<'a, Rows> {
        Box::pin(async move {
            let users = users::list(&state.db).await?;
            let memberships = manage::memberships(state).await?;
            let rows = users.into_iter().map(|user| {
                let groups = memberships
                    .iter()
                    .filter(|(member, _)| *member == user.id)
                    .map(|(_, group)| *group);
                let groups: Vec<i64> = groups.collect();
                let (id, name) = (user.id, user.username.clone());
                Record::of(id, name, facts(user, &groups))
            });
            Ok(shelf::select(rows.collect(), asked, &ABOUT))
        })
    }

    fn read<'a>(&'a self, state: &'a State, id: i64) -> Work<'a, Option<Record>> {
        Box::pin(async move {
            let read = manage::details(state, id);
            Ok(read.await?.map(record))
        })
    }

    fn prepare<'a>(
        &'a self,
        state: &'a State,
        members: &'a Members,
    ) -> Work<'a, Option<NewAccount>> {
        Box::pin(async move { Ok(Some(NewAccount::read(state, members).await?)) })
    }

    fn write_within<'a>(
        &'a self,
        tx: &'a mut Tx,
        by: &'a By,
        target: Target,
        members: &'a Members,
    ) -> Within<'a, Written> {
        Box::pin(async move {
            let Some(id) = target.id() else {
                let account = by.account.as_ref().ok_or(Refusal::NotFound)?;
                return Ok(manage::create(tx, &by.caller, account, by.now)
                    .await?
                    .into());
            };
            let changed = manage::change(tx, &by.caller, id, members, by.now).await?;
            changed.map(Written::from).ok_or(Refusal::NotFound)
        })
    }

    fn read_held<'a>(&'a self, tx: &'a mut Tx, id: i64) -> Within<'a, Option<Record>> {
        Box::pin(async move { Ok(manage::held(tx, id).await?.map(record)) })
    }

    fn delete<'a>(&'a self, state: &'a State, caller: &'a Caller, id: i64) -> Work<'a, bool> {
        Box::pin(manage::delete(state, caller, id))
    }

    fn hindrance<'a>(
        &'a self,
        state: &'a State,
        caller: &'a Caller,
        verb: Verb,
        id: i64,
    ) -> Work<'a, Option<Message>> {
        Box::pin(manage::hindrance(state, caller, verb, id))
    }

    fn related<'a>(&'a self, state: &'a State, id: i64) -> Work<'a, Vec<Related>> {
        Box::pin(async move {
            let count = manage::count_sessions(state, id).await?;
            Ok(vec![Related {
                path: "sessions",
                filter: "user",
                count,
                is_protecting: false,
            }])
        })
    }
}

/// What can be read of an account, with the groups that it is in.
fn facts(user: User, groups: &[i64]) -> Vec<(&'static str, Cell)> {
    let groups = groups.iter().map(i64::to_string).collect();
    vec![
        ("username", Cell::Text(user.username)),
        ("first_name", Cell::text(Some(user.first_name))),
        ("last_name", Cell::text(Some(user.last_name))),
        ("email", Cell::text(Some(user.email))),
        ("active", Cell::Truth(user.active)),
        ("staff", Cell::Truth(user.staff)),
        ("superuser", Cell::Truth(user.superuser)),
        ("groups", Cell::Chosen(groups, user.groups.join(", "))),
        ("last_login", Cell::time(user.last_login)),
        ("date_joined", Cell::Time(user.created_at)),
    ]
}

fn record(details: Details) -> Record {
    let (id, name) = (details.user.id, details.user.username.clone());
    let mut facts = facts(details.user, &details.groups);
    facts.insert(1, ("password", password(details.hash.as_deref())));
    facts.push(("permissions", permissions(&details.permissions)));
    Record::of(id, name, facts)
}

/// What can be told of a password: how it is kept, and never what it is.
fn password(hash: Option<&str>) -> Cell {
    let Some(hash) = hash else {
        return Cell::Word((
            "nenhuma: ninguém entra com senha",
            "none: nobody logs in with a password",
        ));
    };
    let mut parts = hash.split('$').filter(|part| !part.is_empty());
    let (algorithm, _version, parameters) = (parts.next(), parts.next(), parts.next());
    let masked = |part: Option<&str>| {
        let shown: String = part.unwrap_or_default().chars().take(6).collect();
        format!("{shown}********")
    };
    let (salt, hash) = (masked(parts.next()), masked(parts.next()));
    Cell::Text(format!(
        "{} · {} · salt {salt} · hash {hash}",
        algorithm.unwrap_or_default(),
        parameters.unwrap_or_default()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_shown_as_how_it_is_kept_with_salt_and_hash_masked() {
        let hash = "$argon2id$v=19$m=19456,t=2,p=1$c29tZXNhbHQxMjM0$aGFzaGhhc2hoYXNo";
        assert_eq!(
            password(Some(hash)),
            Cell::Text(
                "argon2id · m=19456,t=2,p=1 · salt c29tZX******** · hash aGFzaG********".to_owned()
            )
        );
        assert!(matches!(password(None), Cell::Word(_)));
    }
}
