//! Statements about endpoints.

use db::{Conn, Error, Timestamp, Tx};
use resource::{Record as _, sql};

use crate::model::{ConfiguredEndpoint, DisabledReason, Endpoint, Types};

/// An endpoint to insert or update.
#[derive(Debug, Clone)]
pub(crate) struct NewEndpoint {
    pub(crate) url: String,
    pub(crate) description: String,
    pub(crate) types: String,
    /// `None` for an endpoint that a person adds.
    pub(crate) configured: Option<ConfiguredEndpoint>,
}

/// The endpoint with an id, or all of a service, oldest first.
pub(crate) async fn select(
    conn: &mut Conn,
    service: &str,
    id: Option<i64>,
) -> Result<Vec<Endpoint>, Error> {
    let mut query = sql::select(Endpoint::FIELDS, "webhook_endpoints", "w");
    query.push(" WHERE w.service = ").bind(service);
    if let Some(id) = id {
        query.push(" AND w.id = ").bind(id);
    }
    query.push(" ORDER BY w.id");
    conn.all_of(&query, Endpoint::from_row).await
}

pub(crate) async fn insert(
    tx: &mut Tx,
    service: &str,
    new: &NewEndpoint,
    now: Timestamp,
) -> Result<i64, Error> {
    tx.one(
        "INSERT INTO webhook_endpoints (service, configured, url, description, description_folded, types, enabled, created_at, updated_at)
         VALUES ($1, $2, $3, $4, $5, $6, TRUE, $7, $7) RETURNING id",
        &[
            &service,
            &new.configured.map(ConfiguredEndpoint::name),
            &new.url,
            &new.description,
            &sql::folded(&new.description),
            &new.types,
            &now,
        ],
        |row| row.get(0),
    )
    .await
}

/// Updates what a person may change.
pub(crate) async fn update(
    tx: &mut Tx,
    id: i64,
    new: &NewEndpoint,
    now: Timestamp,
) -> Result<(), Error> {
    tx.execute(
        "UPDATE webhook_endpoints SET url = $2, description = $3, description_folded = $4, types = $5, updated_at = $6
         WHERE id = $1 AND configured IS NULL",
        &[&id, &new.url, &new.description, &sql::folded(&new.description), &new.types, &now],
    )
    .await
    .map(drop)
}

/// Locks an endpoint until the transaction ends.
pub(crate) async fn lock(tx: &mut Tx, id: i64) -> Result<(), Error> {
    let sql = "UPDATE webhook_endpoints SET updated_at = updated_at WHERE id = $1";
    tx.execute(sql, &[&id]).await.map(drop)
}

/// The stored endpoint of the configuration, if there is one.
pub(crate) async fn configured(
    conn: &mut Conn,
    service: &str,
    place: ConfiguredEndpoint,
) -> Result<Option<i64>, Error> {
    let sql = "SELECT id FROM webhook_endpoints WHERE service = $1 AND configured = $2";
    conn.optional(sql, &[&service, &place.name()], |row| row.get(0))
        .await
}

/// Updates address and types of an endpoint of the configuration.
pub(crate) async fn set_configured(
    tx: &mut Tx,
    id: i64,
    (url, types): (&str, &str),
    now: Timestamp,
) -> Result<(), Error> {
    tx.execute(
        "UPDATE webhook_endpoints SET url = $2, types = $3, updated_at = $4 WHERE id = $1 AND configured IS NOT NULL",
        &[&id, &url, &types, &now],
    )
    .await
    .map(drop)
}

/// Enables an endpoint and clears its failures.
pub(crate) async fn enable(tx: &mut Tx, id: i64, now: Timestamp) -> Result<(), Error> {
    tx.execute(
        "UPDATE webhook_endpoints SET enabled = TRUE, disabled_reason = NULL, disabled_at = NULL, failing_since = NULL,
                paused_until = NULL, updated_at = $2 WHERE id = $1",
        &[&id, &now],
    )
    .await
    .map(drop)
}

/// Disables an endpoint. Returns whether it was enabled.
pub(crate) async fn disable(
    tx: &mut Tx,
    id: i64,
    reason: DisabledReason,
    now: Timestamp,
) -> Result<bool, Error> {
    tx.execute_one(
        "UPDATE webhook_endpoints SET enabled = FALSE, disabled_reason = $2, disabled_at = $3, leased_by = NULL
         WHERE id = $1 AND enabled = TRUE",
        &[&id, &reason.name(), &now],
    )
    .await
}

/// Deletes an endpoint that is not of the configuration, with its deliveries.
pub(crate) async fn delete(tx: &mut Tx, id: i64) -> Result<(), Error> {
    let sql = "DELETE FROM webhook_endpoints WHERE id = $1 AND configured IS NULL";
    tx.execute(sql, &[&id]).await.map(drop)
}

/// Stores an encrypted secret. With `until`, the previous secret signs as well up to that time.
pub(crate) async fn set_secret(
    tx: &mut Tx,
    id: i64,
    secret: &str,
    until: Option<Timestamp>,
    now: Timestamp,
) -> Result<(), Error> {
    tx.execute(
        "UPDATE webhook_endpoints
         SET previous_secret = CASE WHEN $3 IS NULL THEN NULL ELSE secret END, previous_until = $3, secret = $2, updated_at = $4
         WHERE id = $1 AND configured IS NULL",
        &[&id, &secret, &until, &now],
    )
    .await
    .map(drop)
}

/// Every stored secret with its endpoint, previous ones included.
pub(crate) async fn stored_secrets(
    conn: &mut Conn,
    service: &str,
) -> Result<Vec<(i64, String)>, Error> {
    conn.all(
        "SELECT id, secret FROM webhook_endpoints WHERE service = $1 AND secret IS NOT NULL
         UNION ALL SELECT id, previous_secret FROM webhook_endpoints WHERE service = $1 AND previous_secret IS NOT NULL",
        &[&service],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )
    .await
}

/// The columns of an endpoint that deliveries need.
#[derive(Clone)]
pub(crate) struct Receiver {
    pub(crate) url: String,
    pub(crate) configured: Option<ConfiguredEndpoint>,
    pub(crate) enabled: bool,
    pub(crate) paused_until: Option<Timestamp>,
    pub(crate) secret: Option<String>,
    pub(crate) previous: Option<(String, Timestamp)>,
    /// The registered replica that has leased the endpoint.
    pub(crate) leased_by: Option<String>,
}

pub(crate) async fn receiver(
    conn: &mut Conn,
    service: &str,
    id: i64,
) -> Result<Option<Receiver>, Error> {
    conn.optional(
        "SELECT e.url, e.configured, e.enabled, e.paused_until, e.secret, e.previous_secret, e.previous_until, r.id
         FROM webhook_endpoints AS e LEFT JOIN replicas AS r ON r.id = e.leased_by
         WHERE e.service = $1 AND e.id = $2",
        &[&service, &id],
        |row| {
            let previous: (Option<String>, Option<Timestamp>) = (row.get(5)?, row.get(6)?);
            Ok(Receiver {
                url: row.get(0)?,
                configured: row.get(1)?,
                enabled: row.get(2)?,
                paused_until: row.get(3)?,
                secret: row.get(4)?,
                previous: previous.0.zip(previous.1),
                leased_by: row.get(7)?,
            })
        },
    )
    .await
}

/// Locks the enabled endpoints until the transaction ends, so that no delivery there ends
/// meanwhile. Returns their ids and types.
pub(crate) async fn lock_enabled(tx: &mut Tx, service: &str) -> Result<Vec<(i64, Types)>, Error> {
    tx.all(
        "UPDATE webhook_endpoints SET enabled = TRUE WHERE service = $1 AND enabled = TRUE RETURNING id, types",
        &[&service],
        |row| {
            let types: String = row.get(1)?;
            Ok((row.get(0)?, Types::stored(&types)))
        },
    )
    .await
}

/// Locks an endpoint until the transaction ends, and stores whether its last attempts failed.
/// Returns since when all have failed.
pub(crate) async fn record_attempts(
    tx: &mut Tx,
    id: i64,
    failing_since: Option<Timestamp>,
) -> Result<Option<Timestamp>, Error> {
    let recorded: Option<Option<Timestamp>> = tx
        .optional(
            "UPDATE webhook_endpoints
             SET failing_since = CASE WHEN $2 IS NULL THEN NULL ELSE COALESCE(failing_since, $2) END
             WHERE id = $1 RETURNING failing_since",
            &[&id, &failing_since],
            |row| row.get(0),
        )
        .await?;
    Ok(recorded.flatten())
}

/// Stores until when the receiver asks us to wait.
pub(crate) async fn pause(tx: &mut Tx, id: i64, until: Timestamp) -> Result<(), Error> {
    tx.execute(
        "UPDATE webhook_endpoints SET paused_until = $2 WHERE id = $1",
        &[&id, &until],
    )
    .await
    .map(drop)
}

/// The enabled endpoints, each with the registered replica that has leased it.
pub(crate) async fn leases(
    conn: &mut Conn,
    service: &str,
) -> Result<Vec<(i64, Option<String>)>, Error> {
    conn.all(
        "SELECT e.id, r.id FROM webhook_endpoints AS e LEFT JOIN replicas AS r ON r.id = e.leased_by
         WHERE e.service = $1 AND e.enabled = TRUE ORDER BY e.id",
        &[&service],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )
    .await
}

/// Leases an endpoint for a registered replica, unless another registered one has it. Returns
/// whether it was leased.
pub(crate) async fn take_lease(tx: &mut Tx, id: i64, replica: &str) -> Result<bool, Error> {
    tx.execute_one(
        "UPDATE webhook_endpoints SET leased_by = $2
         WHERE id = $1 AND enabled = TRUE AND EXISTS (SELECT 1 FROM replicas WHERE id = $2)
           AND (leased_by IS NULL OR leased_by NOT IN (SELECT id FROM replicas WHERE id <> $2))",
        &[&id, &replica],
    )
    .await
}
