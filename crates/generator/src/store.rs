//! Statements that fill an empty catalogue with bulk inserts. The ids are assigned here, and the
//! databases' id counters are set after them.

use db::{Conn, DroppedIndexes, Error, Kind, Rows, Timestamp, Tx};
use inventory::stock::movements::Movement;
use resource::sql::long_text_key;

use crate::{
    goods::Product,
    simulation::{Shelf, Step},
};

/// The filled tables, in the order of their foreign keys.
const TABLES: [&str; 8] = [
    "brands",
    "categories",
    "suppliers",
    "products",
    "product_stock",
    "ledger_entries",
    "inflows",
    "outflows",
];

const NAMED: &[(&str, Kind)] = &[
    ("id", Kind::Integer),
    ("name", Kind::Text),
    ("name_folded", Kind::Text),
    ("created_at", Kind::Timestamp),
    ("updated_at", Kind::Timestamp),
];
const PRODUCTS: &[(&str, Kind)] = &[
    ("id", Kind::Integer),
    ("title", Kind::Text),
    ("title_folded", Kind::Text),
    ("category_id", Kind::Integer),
    ("brand_id", Kind::Integer),
    ("description", Kind::Text),
    ("description_key", Kind::Text),
    ("serie_number", Kind::Text),
    ("serie_number_folded", Kind::Text),
    ("cost_price", Kind::Money),
    ("selling_price", Kind::Money),
    ("created_at", Kind::Timestamp),
];
const STOCK: &[(&str, Kind)] = &[
    ("product_id", Kind::Integer),
    ("category_id", Kind::Integer),
    ("brand_id", Kind::Integer),
    ("quantity", Kind::Integer),
    ("updated_at", Kind::Timestamp),
];
const LEDGER: &[(&str, Kind)] = &[
    ("id", Kind::Integer),
    ("product_id", Kind::Integer),
    ("kind", Kind::Text),
    ("change", Kind::Integer),
    ("balance_after", Kind::Integer),
    ("cost_price", Kind::Money),
    ("selling_price", Kind::Money),
    ("reference_id", Kind::Integer),
    ("created_at", Kind::Timestamp),
];
const INFLOWS: &[(&str, Kind)] = &[
    ("id", Kind::Integer),
    ("supplier_id", Kind::Integer),
    ("product_id", Kind::Integer),
    ("title_folded", Kind::Text),
    ("quantity", Kind::Integer),
    ("description", Kind::Text),
    ("description_key", Kind::Text),
    ("created_at", Kind::Timestamp),
];
const OUTFLOWS: &[(&str, Kind)] = &[
    ("id", Kind::Integer),
    ("product_id", Kind::Integer),
    ("quantity", Kind::Integer),
    ("description", Kind::Text),
    ("description_key", Kind::Text),
    ("created_at", Kind::Timestamp),
];

/// The most rows in memory before they are sent.
const MOST_WAITING: usize = 4000;

/// Whether the catalogue and the ledger are empty.
pub(crate) async fn is_empty(conn: &mut Conn) -> Result<bool, Error> {
    conn.one(
        "SELECT NOT (EXISTS (SELECT 1 FROM products) OR EXISTS (SELECT 1 FROM ledger_entries) OR EXISTS (SELECT 1 FROM brands)
                  OR EXISTS (SELECT 1 FROM categories) OR EXISTS (SELECT 1 FROM suppliers))",
        &[],
        |row| row.get(0),
    )
    .await
}

/// The rows that are waiting to be sent.
#[derive(Debug)]
pub(crate) struct Load {
    products: Rows,
    stock: Rows,
    ledger: Rows,
    inflows: Rows,
    outflows: Rows,
    last_entry: i64,
    last_inflow: i64,
    last_outflow: i64,
}

impl Load {
    pub(crate) fn new() -> Self {
        Self {
            products: Rows::new("products", PRODUCTS),
            stock: Rows::new("product_stock", STOCK),
            ledger: Rows::new("ledger_entries", LEDGER),
            inflows: Rows::new("inflows", INFLOWS),
            outflows: Rows::new("outflows", OUTFLOWS),
            last_entry: 0,
            last_inflow: 0,
            last_outflow: 0,
        }
    }

    /// Adds a product with its opening quantity.
    pub(crate) fn product(&mut self, id: i64, product: Product, place: &Shelf, now: Timestamp) {
        let key = product.description.as_deref().map(long_text_key);
        let serie_number_folded = product.serie_number.as_deref().map(db::fold);
        let title_folded = db::fold(&product.title);
        self.products.push([
            id.into(),
            product.title.as_str().into(),
            title_folded.into(),
            id_of(place.category).into(),
            id_of(place.brand).into(),
            product.description.into(),
            key.into(),
            product.serie_number.into(),
            serie_number_folded.into(),
            product.cost_price.into(),
            product.selling_price.into(),
            now.into(),
        ]);
        self.last_entry += 1;
        self.ledger.push([
            self.last_entry.into(),
            id.into(),
            "opening".into(),
            place.quantity.into(),
            place.quantity.into(),
            place.cost_price.into(),
            place.selling_price.into(),
            None::<i64>.into(),
            now.into(),
        ]);
    }

    /// Adds a movement with its ledger entry. `title` is called only if it is needed.
    pub(crate) fn step(
        &mut self,
        step: &Step,
        product: i64,
        place: &Shelf,
        title: impl FnOnce() -> String,
    ) {
        let (kind, reference) = match step.movement {
            Movement::Inflow => ("inflow", self.inflow(step, product, &title())),
            Movement::Outflow => ("outflow", self.outflow(step, product)),
        };
        self.last_entry += 1;
        self.ledger.push([
            self.last_entry.into(),
            product.into(),
            kind.into(),
            step.change.into(),
            step.balance.into(),
            place.cost_price.into(),
            place.selling_price.into(),
            reference.into(),
            step.at.into(),
        ]);
    }

    fn inflow(&mut self, step: &Step, product: i64, title: &str) -> i64 {
        self.last_inflow += 1;
        let description =
            (step.note % 10 < 7).then(|| format!("Nota fiscal {:06}", step.note % 999_983));
        let key = description.as_deref().map(long_text_key);
        self.inflows.push([
            self.last_inflow.into(),
            id_of(step.supplier).into(),
            product.into(),
            db::fold(title).into(),
            step.quantity.into(),
            description.into(),
            key.into(),
            step.at.into(),
        ]);
        self.last_inflow
    }

    fn outflow(&mut self, step: &Step, product: i64) -> i64 {
        self.last_outflow += 1;
        let description = match step.note % 100 {
            0..70 => None,
            70..90 => Some("Venda no balcão".to_owned()),
            90..99 => Some(format!("Pedido {:06}", step.note % 999_979)),
            _ => Some("Avaria".to_owned()),
        };
        let key = description.as_deref().map(long_text_key);
        self.outflows.push([
            self.last_outflow.into(),
            product.into(),
            step.quantity.into(),
            description.into(),
            key.into(),
            step.at.into(),
        ]);
        self.last_outflow
    }

    /// Adds the stock of a product at the end of the history.
    pub(crate) fn stock(&mut self, product: i64, place: &Shelf) {
        self.stock.push([
            product.into(),
            id_of(place.category).into(),
            id_of(place.brand).into(),
            place.quantity.into(),
            place.last_moved.into(),
        ]);
    }

    /// Sends the waiting rows if there are enough. Products go first, since the others refer to
    /// them.
    pub(crate) async fn send_when_many(&mut self, tx: &mut Tx) -> Result<(), Error> {
        let waiting = self.products.len() + self.ledger.len() + self.stock.len();
        if waiting >= MOST_WAITING {
            self.send(tx).await
        } else {
            Ok(())
        }
    }

    pub(crate) async fn send(&mut self, tx: &mut Tx) -> Result<(), Error> {
        for rows in [
            &mut self.products,
            &mut self.ledger,
            &mut self.inflows,
            &mut self.outflows,
            &mut self.stock,
        ] {
            tx.insert_rows(rows).await?;
        }
        Ok(())
    }
}

/// Inserts brands, categories or suppliers with these names, with ids from 1.
pub(crate) async fn insert_named(
    tx: &mut Tx,
    table: &'static str,
    names: impl IntoIterator<Item = &'static str>,
    now: Timestamp,
) -> Result<(), Error> {
    let mut rows = Rows::new(table, NAMED);
    for (id, name) in (1_i64..).zip(names) {
        rows.push([
            id.into(),
            name.into(),
            db::fold(name).into(),
            now.into(),
            now.into(),
        ]);
    }
    tx.insert_rows(&mut rows).await
}

/// Drops the indexes until all rows are inserted.
pub(crate) async fn drop_indexes(tx: &mut Tx) -> Result<DroppedIndexes, Error> {
    tx.drop_indexes(&TABLES).await
}

/// Sets the id counters after the assigned ids.
pub(crate) async fn set_counters(tx: &mut Tx) -> Result<(), Error> {
    for table in TABLES.into_iter().filter(|table| *table != "product_stock") {
        tx.move_ids_on(table).await?;
    }
    Ok(())
}

fn id_of(number: u32) -> i64 {
    i64::from(number) + 1
}
