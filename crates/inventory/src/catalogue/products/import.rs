//! Products that an import brings and takes away again: by the rules of every other product, examined before anything is written.

use db::{Conn, Timestamp, Tx};

use super::{ProductRecord, check, insert, remove, serie_number_taken, store};
use crate::{
    access::Actor,
    catalogue::refuse_when_referenced,
    rest::{
        Refusal,
        fields::{Members, Mode, read_all},
        given::Given,
    },
    stock::{self},
};

/// Adds a product that an import brings, within a transaction; its quantity becomes the opening of its ledger, now.
pub(crate) async fn add(
    tx: &mut Tx,
    members: &Members,
    given: &Given,
    actor: &Actor,
    now: Timestamp,
) -> Result<i64, Refusal> {
    let (input, errors) = read_all::<ProductRecord>(members, Mode::Whole);
    insert(tx, &input, errors, given, actor, now).await
}

/// What is wrong with a product that an import brings, before anything is written; its serie number. `is_created` tells of references to
/// records that are created with it, `is_taken` of numbers that earlier rows have.
pub(crate) async fn examine(
    conn: &mut Conn,
    members: &Members,
    is_created: impl Fn(&str) -> bool,
    is_taken: impl Fn(&str) -> bool,
) -> Result<Option<String>, Refusal> {
    let (input, errors) = read_all::<ProductRecord>(members, Mode::Whole);
    let mut errors = errors.without(is_created);
    let serie_number = input.serie_number.clone().into_new();
    if serie_number.as_deref().is_some_and(is_taken) {
        errors.add("serie_number", serie_number_taken());
    }
    check(conn, None, &input, errors).await?;
    Ok(serie_number)
}

/// The serie number of a product that an import brings.
pub(crate) fn serie_number(members: &Members) -> Option<String> {
    let (input, _) = read_all::<ProductRecord>(members, Mode::Whole);
    input.serie_number.into_new()
}

/// Refuses what would keep a product from being deleted.
pub(crate) async fn examine_removal(conn: &mut Conn, id: i64) -> Result<(), Refusal> {
    refuse_when_referenced(&super::WORDS, &store::referring(conn, id).await?)
}

/// Deletes a product that an import added, as [`delete`](super::delete) does. Its ledger ends at nothing, so that the product may come again.
pub(crate) async fn withdraw(
    tx: &mut Tx,
    id: i64,
    actor: &Actor,
    now: Timestamp,
) -> Result<(), Refusal> {
    refuse_when_referenced(&super::WORDS, &store::referring(tx, id).await?)?;
    stock::empty(tx, id, actor, now).await?;
    remove(tx, id, actor, now).await.map(drop)
}
