//! `balcao user`: manages accounts of the inventory service, which may be running. Passwords come
//! from a terminal or from standard input. On the command line every user of the machine could read
//! them.

mod password;

use clap::{Args, Subcommand};
use db::{Db, Timestamp};
use inventory::access::Actor;
use inventory::accounts::users::{self, NewUser, UserError};
use inventory::accounts::{Passwords, Tokens, second_factor};
use web::{Clock, Random};

use super::common::Common;
use crate::console;
use crate::failure::{Context, Failure};
use crate::run::MissingDatabase;
use crate::run::inventory::with_database;
use crate::settings::Purpose;

/// Manage accounts of the inventory service
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  balcao user create ana --group Managers\n  balcao user create ops --superuser --password-stdin < password.txt\n  balcao user password ana\n  balcao user deactivate ana\n  balcao user second-factor ana --reset\n  balcao user list"
)]
pub(super) struct UserArguments {
    #[command(subcommand)]
    action: UserAction,
}

#[derive(Debug, Subcommand)]
enum UserAction {
    /// Create an account
    Create {
        /// The name it logs in with
        name: String,
        /// Its group: Admin, Managers, or one that was added later; without a group it may only
        /// read
        #[arg(long)]
        group: Option<String>,
        /// May do everything, administration included
        #[arg(long)]
        superuser: bool,
        /// Read the password from standard input, its first line
        #[arg(long)]
        password_stdin: bool,
    },
    /// Set an account's password, end its sessions, and revoke its API tokens
    Password {
        /// The account's name
        name: String,
        /// Keep the API tokens of programs: only if nobody else knows the current password
        #[arg(long)]
        keep_tokens: bool,
        /// Read the password from standard input, its first line
        #[arg(long)]
        password_stdin: bool,
    },
    /// Deactivate an account at once: its password, sessions and tokens stop working
    Deactivate {
        /// The account's name
        name: String,
    },
    /// Activate an account again
    Activate {
        /// The account's name
        name: String,
    },
    /// Show whether an account has a second factor, or remove it for somebody who lost both device
    /// and recovery codes
    SecondFactor {
        /// The account's name
        name: String,
        /// Remove it: the password alone is enough until its owner turns it on again
        #[arg(long)]
        reset: bool,
    },
    /// List the accounts, by name
    List,
}

pub(super) fn run(arguments: UserArguments, common: &Common) -> Result<(), Failure> {
    common.run(Purpose::Any, async |settings| {
        let password = match &arguments.action {
            UserAction::Create { password_stdin, .. }
            | UserAction::Password { password_stdin, .. } => password::read(*password_stdin)?,
            _ => String::new(),
        };
        let missing = match &arguments.action {
            UserAction::Create { name, .. } => {
                // A refused account makes no database.
                users::check(name, &password).context(name)?;
                MissingDatabase::Create
            }
            _ => MissingDatabase::Refuse,
        };
        with_database(&settings, missing, async |db| {
            perform(arguments.action, db, password).await
        })
        .await
    })
}

async fn perform(action: UserAction, db: &Db, password: String) -> Result<(), Failure> {
    let passwords = Passwords::new(Random::system());
    let now = Clock::system().now();
    let (name, done) = match action {
        UserAction::List => return list(db).await,
        UserAction::SecondFactor { name, reset } => {
            return second_factor(db, &name, reset, now).await;
        }
        UserAction::Create {
            name,
            group,
            superuser,
            ..
        } => {
            let user = NewUser {
                username: name.clone(),
                password,
                group,
                superuser,
            };
            let made = users::create(db, &passwords, now, user).await;
            (name, made.map(|_| ()))
        }
        UserAction::Password {
            name, keep_tokens, ..
        } => {
            let tokens = Tokens::revoked_if(!keep_tokens);
            let done = users::set_password(db, &passwords, now, &name, &password, tokens).await;
            (name, done)
        }
        UserAction::Deactivate { name } => {
            let done = users::set_active(db, now, &name, false).await;
            (name, done)
        }
        UserAction::Activate { name } => {
            let done = users::set_active(db, now, &name, true).await;
            (name, done)
        }
    };
    done.map_err(|error: UserError| Failure::of(&name, &error))
}

async fn second_factor(db: &Db, name: &str, reset: bool, now: Timestamp) -> Result<(), Failure> {
    let failure = |error: db::Error| Failure::of(name, &error);
    let users = users::list(db).await.map_err(failure)?;
    let user = users.into_iter().find(|user| user.username == name);
    let user = user.ok_or_else(|| Failure::of(name, &UserError::UnknownUser))?;
    if reset {
        let nobody = Actor(None);
        let was_on = second_factor::reset(db, &nobody, user.id, now).await;
        return console::print(if was_on.map_err(failure)? {
            "the second factor was removed"
        } else {
            "there was no second factor"
        });
    }
    let status = second_factor::status(db, user.id).await.map_err(failure)?;
    console::print(&status.map_or_else(
        || "off".to_owned(),
        |status| {
            format!(
                "on since {}, {} recovery codes left",
                status.since, status.recovery_codes
            )
        },
    ))
}

async fn list(db: &Db) -> Result<(), Failure> {
    let users = users::list(db).await.context("the users cannot be read")?;
    for user in users {
        let state = if user.active { "active" } else { "deactivated" };
        let rank = if user.superuser { "superuser" } else { "" };
        let groups = user.group_names().join(", ");
        let last = user
            .last_login
            .map_or_else(|| "never".to_owned(), |at| at.to_string());
        let line = format!(
            "{}  {state}  {rank}  {groups}  last login {last}",
            user.username
        );
        console::print(&line.replace("    ", "  "))?;
    }
    Ok(())
}
