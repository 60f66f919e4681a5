//! An outflow that leaves its product at its threshold or above, booked by one statement. PostgreSQL only, where each statement of a
//! transaction is a round trip, and where jobs that share a transaction may run one statement each.

use db::{Error, Timestamp, Tx};

use crate::{catalogue::description_key, rest::json::Titled, stock::Actor, tallies::day_of};

/// What is to be booked.
#[derive(Debug, Clone)]
pub(in crate::stock::movements) struct AtOnce {
    pub(in crate::stock::movements) product: i64,
    pub(in crate::stock::movements) quantity: i64,
    pub(in crate::stock::movements) description: Option<String>,
    pub(in crate::stock::movements) actor: Actor,
    pub(in crate::stock::movements) now: Timestamp,
    /// The threshold of products without one of their own.
    pub(in crate::stock::movements) threshold: i64,
    /// The event's body up to the outflow's id, from there to the product's title, from there to its quantity, and the rest.
    pub(in crate::stock::movements) told: [String; 4],
}

/// Books it, unless the product would become low, has too little or is unknown: then it changes nothing and answers no row. Low products
/// may be counted under the threshold of a process with another setting; a product that becomes low under that one takes the long way too.
///
/// Product, quantity, time, the shop's threshold, description and its key, user and name, day, and the four pieces of the event's body.
pub const STATEMENT: &str =
    "WITH taken AS (
         UPDATE product_stock SET quantity = quantity - $2, updated_at = $3
         WHERE product_id = $1 AND quantity - $2 >= COALESCE(threshold, GREATEST($4, (SELECT threshold FROM low_tally)))
         RETURNING product_id, quantity
     ), product AS (
         SELECT p.id, p.title, p.cost_price, p.selling_price, p.category_id, p.brand_id, t.quantity
         FROM taken AS t JOIN products AS p ON p.id = t.product_id FOR SHARE OF p
     ), outflow AS (
         INSERT INTO outflows (product_id, quantity, description, description_key, created_at)
         SELECT p.id, $2, $5, $6, $3 FROM product AS p RETURNING id
     ), entered AS (
         INSERT INTO ledger_entries (product_id, kind, change, balance_after, cost_price, selling_price, user_id, user_name,
                                     reference_id, created_at)
         SELECT p.id, 'outflow', -$2, p.quantity, p.cost_price, p.selling_price, $7, $8, o.id, $3
         FROM product AS p CROSS JOIN outflow AS o
     ), noted AS (
         INSERT INTO tally_changes (movement, day, movements, moved, moved_cost_price, moved_selling_price, present,
                                    category_id, brand_id, products, units, cost_price, selling_price, movement_id)
         SELECT 'outflow', $9, 1, $2, p.cost_price, p.selling_price, $2,
                p.category_id, p.brand_id, 0, -$2, p.cost_price, p.selling_price, o.id
         FROM product AS p CROSS JOIN outflow AS o
     ), told AS (
         INSERT INTO events (type, product_id, payload, created_at)
         SELECT 'outflow.created', p.id,
                $10 || CAST(o.id AS TEXT) || $11 || CAST(to_json(p.title) AS TEXT) || $12 || CAST(p.quantity AS TEXT) || $13, $3
         FROM product AS p CROSS JOIN outflow AS o
     )
     SELECT o.id, p.id, p.title FROM product AS p CROSS JOIN outflow AS o";

/// Books it: the outflow's id and its product. None, and nothing is changed, when the product would become low, has too little or is
/// unknown.
///
/// The stock row comes first, as in every change of a quantity: whoever changes prices holds it until the commit. The product is locked
/// after it, which gives its row as it is now and not as it was when the statement began; the weaker lock of a foreign key would not.
pub(in crate::stock::movements) async fn book(
    tx: &mut Tx,
    outflow: &AtOnce,
) -> Result<Option<(i64, Titled)>, Error> {
    let user = outflow.actor.0.as_ref();
    let [to_id, to_title, to_quantity, rest] = &outflow.told;
    tx.optional(
        STATEMENT,
        &[
            &outflow.product,
            &outflow.quantity,
            &outflow.now,
            &outflow.threshold,
            &outflow.description,
            &outflow.description.as_deref().map(description_key),
            &user.map(|(id, _)| *id),
            &user.map(|(_, name)| name.as_str()),
            &day_of(outflow.now),
            to_id,
            to_title,
            to_quantity,
            rest,
        ],
        |row| {
            let product = Titled {
                id: row.get(1)?,
                title: row.get(2)?,
            };
            Ok((row.get(0)?, product))
        },
    )
    .await
}
