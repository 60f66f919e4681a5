//! Outflows that leave their products at their thresholds or above, all that wait at the same time booked by one statement. PostgreSQL
//! only, where each statement of a transaction is a round trip.

use db::{Batched, Error, Locks, Outcome, Timestamp, Tx};
use serde::Serialize;

use crate::rest::json::{self, Titled};

/// What is to be booked, with its members as the statement names them.
#[derive(Debug, Serialize)]
pub(in crate::stock::movements) struct AtOnce {
    pub(in crate::stock::movements) product_id: i64,
    pub(in crate::stock::movements) quantity: i64,
    pub(in crate::stock::movements) description: Option<String>,
    pub(in crate::stock::movements) description_key: Option<String>,
    pub(in crate::stock::movements) user_id: Option<i64>,
    pub(in crate::stock::movements) user_name: Option<String>,
    #[serde(serialize_with = "json::time")]
    pub(in crate::stock::movements) now: Timestamp,
    #[serde(serialize_with = "json::time")]
    pub(in crate::stock::movements) day: Timestamp,
    /// The threshold of products without one of their own.
    pub(in crate::stock::movements) threshold: i64,
    /// The event's body up to the outflow's id, from there to the product's title, from there to its quantity, and the rest.
    pub(in crate::stock::movements) to_id: String,
    pub(in crate::stock::movements) to_title: String,
    pub(in crate::stock::movements) to_quantity: String,
    pub(in crate::stock::movements) rest: String,
}

/// The statement that books them, with what its locks say of rows that others have locked.
///
/// It books all, unless the product of one would become low, has too little for all that want it, is archived or unknown: of such a product it books
/// none. Low products may be counted under the threshold of a process with another setting; a product that becomes low under that one is
/// not booked here either. It takes the outflows, as a list in JSON, and answers those that were booked or whose product was not locked,
/// with their places in the list from 1.
///
/// Stock rows come first, as in every change of a quantity (whoever changes prices holds them until the commit), and in the order of their
/// ids, so that no two batches wait for each other. Products are locked after them, which gives their rows as they are now and not as they
/// were when the statement began; the weaker lock of a foreign key would not.
macro_rules! statement {
    ($locks:literal) => {
        concat!("WITH asked AS (
         SELECT * FROM ROWS FROM (json_to_recordset(CAST($1 AS JSON)) AS (
             product_id BIGINT, quantity BIGINT, description TEXT, description_key TEXT, user_id BIGINT, user_name TEXT,
             now TIMESTAMPTZ, day TIMESTAMPTZ, threshold BIGINT, to_id TEXT, to_title TEXT, to_quantity TEXT, rest TEXT
         )) WITH ORDINALITY
     ), wanted AS (
         SELECT product_id, CAST(LEAST(sum(quantity), 9223372036854775807) AS BIGINT) AS quantity, max(now) AS now, max(threshold) AS threshold
         FROM asked GROUP BY product_id
     ), locked AS (
         SELECT s.product_id, p.title, p.cost_price, p.selling_price, p.category_id, p.brand_id
         FROM product_stock AS s JOIN products AS p ON p.id = s.product_id
         WHERE s.product_id = ANY (ARRAY(SELECT product_id FROM wanted))
         ORDER BY s.product_id FOR UPDATE OF s ", $locks, " FOR SHARE OF p ", $locks, "
     ), taken AS (
         UPDATE product_stock AS s SET quantity = s.quantity - w.quantity, updated_at = w.now
         FROM locked AS l JOIN wanted AS w ON w.product_id = l.product_id
         WHERE s.product_id = l.product_id AND s.archived_at IS NULL
           AND s.quantity - w.quantity >= COALESCE(s.threshold, GREATEST(w.threshold, (SELECT threshold FROM low_stock_aggregate)))
         RETURNING s.product_id, s.quantity + w.quantity AS before
     ), sold AS (
         SELECT a.*, l.title, l.cost_price, l.selling_price, l.category_id, l.brand_id, nextval('outflows_id_seq') AS id,
                CAST(t.before - sum(a.quantity) OVER (PARTITION BY a.product_id ORDER BY a.ordinality) AS BIGINT) AS balance
         FROM asked AS a JOIN taken AS t ON t.product_id = a.product_id JOIN locked AS l ON l.product_id = a.product_id
     ), outflow AS (
         INSERT INTO outflows (id, product_id, quantity, description, description_key, created_at)
         SELECT id, product_id, quantity, description, description_key, now FROM sold
     ), entered AS (
         INSERT INTO ledger_entries (product_id, kind, change, balance_after, cost_price, selling_price, user_id, user_name,
                                     reference_id, created_at)
         SELECT product_id, 'outflow', -quantity, balance, cost_price, selling_price, user_id, user_name, id, now FROM sold
     ), noted AS (
         INSERT INTO aggregate_deltas (movement, day, movements, moved, moved_cost_price, moved_selling_price, present,
                                    category_id, brand_id, products, units, cost_price, selling_price, movement_id)
         SELECT 'outflow', day, 1, quantity, cost_price, selling_price, quantity,
                category_id, brand_id, 0, -quantity, cost_price, selling_price, id FROM sold
     ), told AS (
         INSERT INTO events (service, type, subject_id, payload, created_at)
         SELECT 'inventory', 'outflow.created', product_id, to_id || CAST(id AS TEXT) || to_title || CAST(to_json(title) AS TEXT)
                || to_quantity || CAST(balance AS TEXT) || rest, now FROM sold
     )
     SELECT ordinality, id, product_id, title FROM sold
     UNION ALL
     SELECT ordinality, NULL, product_id, NULL FROM asked AS a
     WHERE NOT EXISTS (SELECT 1 FROM locked AS l WHERE l.product_id = a.product_id)")
    };
}

const SKIPPING_LOCKED: &str = statement!("SKIP LOCKED");
const WAITING: &str = statement!("");

impl Batched for AtOnce {
    /// The outflow's id and its product. None, and nothing was changed, when it must be booked by steps.
    type Answer = Option<(i64, Titled)>;

    fn row(&self) -> i64 {
        self.product_id
    }

    async fn make(
        all: &[Self],
        locks: Locks,
        tx: &mut Tx,
    ) -> Result<Vec<Outcome<Self::Answer>>, Error> {
        let asked = serde_json::to_string(all).map_err(|error| Error::other(error.to_string()))?;
        let mut outcomes: Vec<_> = all.iter().map(|_| Outcome::Made(None)).collect();
        let sql = match locks {
            Locks::Skip => SKIPPING_LOCKED,
            Locks::Wait => WAITING,
        };
        tx.all(sql, &[&asked], |row| {
            let place = row.get::<i64>(0)? - 1;
            let outcome = usize::try_from(place)
                .ok()
                .and_then(|place| outcomes.get_mut(place))
                .ok_or_else(|| Error::other("an outflow was booked that nobody asked for"))?;
            match (row.get::<Option<i64>>(1)?, locks) {
                (Some(id), _) => {
                    let product = Titled {
                        id: row.get(2)?,
                        title: row.get(3)?,
                    };
                    *outcome = Outcome::Made(Some((id, product)));
                }
                (None, Locks::Skip) => *outcome = Outcome::Locked,
                // There is no such product.
                (None, Locks::Wait) => {}
            }
            Ok(())
        })
        .await?;
        Ok(outcomes)
    }
}
