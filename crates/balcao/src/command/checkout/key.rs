//! `balcao checkout key`: adds, lists and revokes merchants' keys, while the service runs or not.

use ::checkout::keys;
use clap::Subcommand;
use db::Db;
use web::{Clock, Random};

use crate::command::{Common, Failure, with_runtime};
use crate::console;
use crate::run::checkout::open_database;
use crate::settings::{Purpose, Settings};

#[derive(Debug, Subcommand)]
#[command(
    after_help = "Examples:\n  balcao checkout key add bookshop\n  balcao checkout key list\n  balcao checkout key revoke balcao_8fK2pQx1"
)]
pub(super) enum Action {
    /// Make a key and print it, once
    Add {
        /// Whose key it is
        name: String,
    },
    /// List the keys, newest first
    List,
    /// Revoke a key
    Revoke {
        /// Its first characters, as `list` shows them, or the whole key
        key: String,
    },
}

pub(super) fn run(action: Action, common: &Common) -> Result<(), Failure> {
    let (settings, warnings) = common.settings(Purpose::Any)?;
    with_runtime(&settings, &warnings, act(action, &settings))
}

async fn act(action: Action, settings: &Settings) -> Result<(), Failure> {
    let (db, _) = open_database(settings).await?;
    let done = match action {
        Action::Add { name } => add(&db, &name).await,
        Action::List => list(&db).await,
        Action::Revoke { key } => revoke(&db, &key).await,
    };
    db.close().await;
    done
}

async fn add(db: &Db, name: &str) -> Result<(), Failure> {
    let key = keys::add(db, &Clock::system(), &Random::system(), name)
        .await
        .map_err(|error| Failure::of("no key was made", &error))?;
    console::say(&key.key);
    console::complain(&format!("this is the key of {name}; it is not shown again"));
    Ok(())
}

async fn list(db: &Db) -> Result<(), Failure> {
    let keys = keys::list(db)
        .await
        .map_err(|error| Failure::of("the keys cannot be read", &error))?;
    for key in keys {
        let state = key
            .revoked_at
            .map_or_else(|| "in force".to_owned(), |at| format!("revoked {at}"));
        console::say(&format!(
            "{}…  {}  {state}  {}",
            key.prefix, key.created_at, key.name
        ));
    }
    Ok(())
}

async fn revoke(db: &Db, key: &str) -> Result<(), Failure> {
    let key = key.trim_end_matches('…');
    match keys::revoke(db, &Clock::system(), key).await {
        Ok(true) => Ok(()),
        Ok(false) => Err(Failure::new(format!(
            "no key in force begins with {}; `balcao checkout key list` shows them",
            keys::shown(key)
        ))),
        Err(error) => Err(Failure::of("the key was not revoked", &error)),
    }
}
