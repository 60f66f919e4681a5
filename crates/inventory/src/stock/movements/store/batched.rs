//! Creates all waiting outflows that leave their products at or above their thresholds, by one
//! statement. Only for PostgreSQL, where each statement of a transaction costs a round trip. The
//! rows are the same as on the general path: columns come from the field descriptions and from the
//! row types that insert single rows.

use std::sync::LazyLock;

use db::{BatchedChange, Error, Locks, Outcome, Timestamp, Tx};
use delivery::EventRow;
use resource::{FieldType as _, Record as _, sql};
use serde::Serialize;

use crate::{
    aggregates::DeltaRow,
    movement::Movement,
    rest::json::Titled,
    stock::{movements::model::MovementRecord, payloads::outflow_event_sql, store::LedgerEntryRow},
};

/// An outflow to create. The serialised members are the columns that the statement reads.
#[derive(Debug, Serialize)]
pub(in crate::stock::movements) struct BatchedOutflow {
    #[serde(flatten)]
    columns: serde_json::Map<String, serde_json::Value>,
    #[serde(skip)]
    product: i64,
    user_id: Option<i64>,
    user_name: Option<String>,
    /// The threshold of products that have none of their own.
    threshold: i64,
}

/// A created outflow: its id, its product and its time.
pub(in crate::stock::movements) type CreatedOutflow = (i64, Titled, Timestamp);

impl BatchedOutflow {
    pub(in crate::stock::movements) fn of(
        outflow: &MovementRecord,
        (user_id, user_name): (Option<i64>, Option<String>),
        threshold: i64,
    ) -> Self {
        let mut values = outflow.values();
        values.retain(|(field, _)| *field != MovementRecord::id);
        Self {
            columns: sql::stored_json(values),
            product: outflow.product.id,
            user_id,
            user_name,
            threshold,
        }
    }
}

/// The columns of the rows that the statement inserts for each row of `sold`.
const LEDGER_ENTRY: LedgerEntryRow<&str> = LedgerEntryRow {
    product: "product_id",
    kind: "'outflow'",
    change: "-quantity",
    balance_after: "balance",
    cost_price: "cost_price",
    selling_price: "selling_price",
    user: "user_id",
    user_name: "user_name",
    reference: "id",
    reason: "NULL",
    note: "NULL",
    created_at: "booked_at",
};
const DELTA: DeltaRow<&str> = DeltaRow {
    movement: "'outflow'",
    supplier: "NULL",
    day: "date_trunc('day', booked_at, 'UTC')",
    movements: "1",
    moved: "quantity",
    moved_cost_price: "cost_price",
    moved_selling_price: "selling_price",
    present: "quantity",
    category: "category_id",
    brand: "brand_id",
    products: "0",
    units: "-quantity",
    cost_price: "cost_price",
    selling_price: "selling_price",
    movement_id: "id",
    low: "0",
};

/// The statement that creates the outflows. `locks` is how it treats locked rows: empty to wait, or
/// `SKIP LOCKED`.
///
/// It takes the outflows as a JSON array. It returns one row, with the position in the array from
/// 1, for each outflow that it created and for each whose product it could not lock. It creates no
/// outflow of a product that would become low, was alerted as low, has too little stock for all of
/// its outflows, is archived or unknown. The number of low products may be counted under another process's
/// threshold, so a product that becomes low under that one is left out, too.
///
/// The outflows of a product all get the latest of their times, and no earlier one than its stock
/// row has, as in `stock::store`.
///
/// Stock rows are locked first, as in every change of a quantity, and in the order of ids, so that
/// batches do not deadlock. Changes of prices lock them until their commit. Products are locked
/// after them with `FOR SHARE`, which reads the latest committed version of their rows instead of
/// the snapshot of the statement's start. The weaker lock of a foreign key would not.
fn statement(locks: &str) -> &'static str {
    let columns = sql::stored_columns(Movement::Outflow.fields()).into_iter();
    let columns: Vec<_> = columns.filter(|(name, _)| name != "id").collect();
    let typed = columns.iter().map(|(name, kind)| format!("{name} {kind}"));
    let typed = typed.collect::<Vec<_>>().join(", ");
    let names = columns.iter().map(|(name, _)| name.as_str());
    let names: Vec<_> = names.filter(|name| *name != "created_at").collect();
    let names = names.join(", ");
    // Serializing numbers and texts cannot fail.
    let payload = outflow_event_sql().unwrap_or_default();
    let event = EventRow {
        service: "'inventory'",
        kind: "'outflow.created'",
        subject: "product_id",
        payload: payload.leak(),
        created_at: "booked_at",
    };
    let [entry, delta, event] = [
        LEDGER_ENTRY.insert_from("sold"),
        DELTA.insert_from("sold"),
        event.insert_from("sold"),
    ];
    let text = format!(
        "WITH requested AS (
             SELECT * FROM ROWS FROM (json_to_recordset(CAST($1 AS JSON)) AS (
                 {typed}, user_id BIGINT, user_name TEXT, threshold BIGINT
             )) WITH ORDINALITY
         ), wanted AS (
             SELECT product_id, CAST(LEAST(sum(quantity), 9223372036854775807) AS BIGINT) AS quantity,
                    max(created_at) AS created_at, max(threshold) AS threshold
             FROM requested GROUP BY product_id
         ), locked AS (
             SELECT s.product_id, p.title, p.cost_price, p.selling_price, p.category_id, p.brand_id
             FROM product_stock AS s JOIN products AS p ON p.id = s.product_id
             WHERE s.product_id = ANY (ARRAY(SELECT product_id FROM wanted))
             ORDER BY s.product_id FOR UPDATE OF s {locks} FOR SHARE OF p {locks}
         ), taken AS (
             UPDATE product_stock AS s SET quantity = s.quantity - w.quantity, updated_at = GREATEST(s.updated_at, s.booked_at, w.created_at)
             FROM locked AS l JOIN wanted AS w ON w.product_id = l.product_id
             WHERE s.product_id = l.product_id AND s.archived_at IS NULL AND NOT s.alerted
               AND s.quantity - w.quantity >= COALESCE(s.threshold, GREATEST(w.threshold, (SELECT threshold FROM low_stock_aggregate)))
             RETURNING s.product_id, s.quantity + w.quantity AS before, s.updated_at AS booked_at
         ), sold AS (
             SELECT a.*, t.booked_at, {TIME_TEXT} AS time_text, l.title, l.cost_price, l.selling_price, l.category_id, l.brand_id, nextval('outflows_id_seq') AS id,
                    CAST(t.before - sum(a.quantity) OVER (PARTITION BY a.product_id ORDER BY a.ordinality) AS BIGINT) AS balance
             FROM requested AS a JOIN taken AS t ON t.product_id = a.product_id JOIN locked AS l ON l.product_id = a.product_id
         ), outflow AS (INSERT INTO outflows (id, created_at, {names}) SELECT id, booked_at, {names} FROM sold
         ), entry AS ({entry}
         ), delta AS ({delta}
         ), event AS ({event})
         SELECT ordinality, id, product_id, title, booked_at FROM sold
         UNION ALL
         SELECT ordinality, NULL, product_id, NULL, NULL FROM requested AS a
         WHERE NOT EXISTS (SELECT 1 FROM locked AS l WHERE l.product_id = a.product_id)"
    );
    text.leak()
}

/// A time as [`crate::rest::json::time_text`] writes it.
const TIME_TEXT: &str = r#"replace(to_char(t.booked_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), '.000000Z', 'Z')"#;

static SKIPPING_LOCKED: LazyLock<&str> = LazyLock::new(|| statement("SKIP LOCKED"));
static WAITING: LazyLock<&str> = LazyLock::new(|| statement(""));

impl BatchedChange for BatchedOutflow {
    /// `None` if the outflow must take the general path.
    type Answer = Option<CreatedOutflow>;

    fn row(&self) -> i64 {
        self.product
    }

    async fn make(
        all: &[Self],
        locks: Locks,
        tx: &mut Tx,
    ) -> Result<Vec<Outcome<Self::Answer>>, Error> {
        let rows = serde_json::to_string(all).map_err(Error::other)?;
        let mut outcomes: Vec<_> = all.iter().map(|_| Outcome::Made(None)).collect();
        let sql = match locks {
            Locks::Skip => *SKIPPING_LOCKED,
            Locks::Wait => *WAITING,
        };
        tx.all(sql, &[&rows], |row| {
            let index = row.get::<i64>(0)? - 1;
            let outcome = usize::try_from(index)
                .ok()
                .and_then(|index| outcomes.get_mut(index))
                .ok_or_else(|| Error::other("an outflow was created that nobody asked for"))?;
            match (row.get::<Option<i64>>(1)?, locks) {
                (Some(id), _) => {
                    let product = Titled::from_row(row, &mut 2)?;
                    *outcome = Outcome::Made(Some((id, product, row.get(4)?)));
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
