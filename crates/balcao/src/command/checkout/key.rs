//! `balcao checkout key`: adds, lists and revokes merchants' API keys. The service may be running.

use ::checkout::keys;
use clap::Subcommand;
use db::Db;
use web::{Clock, Random};

use crate::command::common::Common;
use crate::console;
use crate::failure::{Context, Failure};
use crate::run::MissingDatabase;
use crate::run::checkout::with_database;
use crate::settings::Purpose;

#[derive(Debug, Subcommand)]
#[command(
    after_help = "Examples:\n  balcao checkout key add bookshop\n  balcao checkout key list\n  balcao checkout key revoke balcao_8fK2pQx1"
)]
pub(super) enum KeyAction {
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

pub(super) fn run(action: KeyAction, common: &Common) -> Result<(), Failure> {
    common.run(Purpose::Any, async |settings| {
        let missing = match &action {
            KeyAction::Add { .. } => MissingDatabase::Create,
            _ => MissingDatabase::Refuse,
        };
        with_database(&settings, missing, async |db| match action {
            KeyAction::Add { name } => add(db, &name).await,
            KeyAction::List => list(db).await,
            KeyAction::Revoke { key } => revoke(db, &key).await,
        })
        .await
    })
}

async fn add(db: &Db, name: &str) -> Result<(), Failure> {
    let key = keys::add(db, &Clock::system(), &Random::system(), name)
        .await
        .context("no key was made")?;
    let shown = keys::shown(&key.key);
    console::print_secret(
        &key.key,
        &format!("`balcao checkout key revoke {shown}` revokes this key"),
    )?;
    console::print_error(&format!("this is the key of {name}; it is not shown again"));
    Ok(())
}

async fn list(db: &Db) -> Result<(), Failure> {
    let keys = keys::list(db).await.context("the keys cannot be read")?;
    for key in keys {
        let state = key
            .revoked_at
            .map_or_else(|| "in force".to_owned(), |at| format!("revoked {at}"));
        console::print(&format!(
            "{}…  {}  {state}  {}",
            key.prefix, key.created_at, key.name
        ))?;
    }
    Ok(())
}

async fn revoke(db: &Db, key: &str) -> Result<(), Failure> {
    let key = key.trim_end_matches('…');
    match keys::revoke(db, &Clock::system(), key).await {
        Ok(true) => Ok(()),
        Ok(false) => Err(Failure::new(format!(
            "no key in force is `{}…`; give all the characters that `balcao checkout key list` shows, or the whole key",
            keys::shown(key)
        ))),
        Err(error) => Err(Failure::of("the key was not revoked", &error)),
    }
}
