//! The lists of inflows and outflows: their filters, orders, tables and indexes. `listing` reads the
//! pages.
//!
//! - Counts of the whole list, of a supplier or of a range of days come from `aggregates`. The
//!   movements of a product are counted in its index.
//! - A range of days that is not ordered by time is read between the first and the last id of its
//!   days, which `daily_id_ranges` stores. If an old file was imported, ids do not follow time: the
//!   range of ids is then wider, and the list is still exact. An index instead would slow every
//!   sale.
//! - A search finds movements by the titles of their products, and the newest by their own texts.
//! - Each inflow has a copy of its product's folded title, to order by it. Outflows have none,
//!   because it would slow every sale: they are read product by product in the order of titles.

#[cfg(test)]
mod tests;

use db::{Conn, Error, OwnedValue, Row};
use resource::{Field, Record as _};

use super::super::{Movement, MovementRecord};
use crate::{
    aggregates,
    listing::{
        Columns, Condition, Index, IndexName, List, Matches, PageRange, QueryStats, SearchedText,
        Selection, Table, Test, TextQuery, TextSearch, by_time, text_of,
    },
    movement::entry_of_movement,
    rest::{
        Refusal,
        fields::FieldErrors,
        list::{DAY, FilterKind, Filters, OrderBy, QueryFilter, ordering},
        page::{Page, PageRequest},
        query::Parameters,
    },
};

const FROM: QueryFilter = QueryFilter {
    name: "date_from",
    kind: FilterKind::Day,
    about: "From this day on, in UTC.",
};
const TO: QueryFilter = QueryFilter {
    name: "date_to",
    kind: FilterKind::Day,
    about: "Up to the end of this day, in UTC.",
};
/// The filters of a list besides its fields.
pub(in crate::stock::movements) const DAYS: &[QueryFilter] = &[FROM, TO];

pub(in crate::stock::movements) const NEWEST_FIRST: OrderBy = OrderBy {
    field: "created_at",
    descending: true,
};

static INFLOWS: Table = Table {
    name: "inflows",
    alias: "m",
    indexes: &[
        Index::primary(None, "id"),
        Index::of("created_at"),
        Index::of("quantity"),
        Index::of("description"),
        Index {
            name: IndexName::Named("inflows_title"),
            ..Index::of("product")
        },
        Index::within("product", "created_at", "inflows_product_created_at"),
        Index::within("supplier", "id", "inflows_supplier"),
    ],
    ..Table::OWN
};

static OUTFLOWS: Table = Table {
    name: "outflows",
    alias: "m",
    indexes: &[
        Index::primary(None, "id"),
        Index::of("created_at"),
        Index::of("quantity"),
        Index::of("description"),
        Index::within("product", "created_at", "outflows_product_created_at"),
    ],
    ..Table::OWN
};

static LIST_OF_INFLOWS: List<MovementRecord> = List {
    order_columns: &[("product", "title_folded")],
    ..list(&INFLOWS, Columns::OfFields(inflow_fields, ""), |row| {
        MovementRecord::of_fields(inflow_fields(), row)
    })
};

static LIST_OF_OUTFLOWS: List<MovementRecord> =
    list(&OUTFLOWS, Columns::OfFields(outflow_fields, ""), |row| {
        MovementRecord::of_fields(outflow_fields(), row)
    });

fn inflow_fields() -> &'static [&'static Field] {
    Movement::Inflow.fields()
}

fn outflow_fields() -> &'static [&'static Field] {
    Movement::Outflow.fields()
}

const fn list<T>(
    own: &'static Table,
    record: Columns,
    read: fn(&Row<'_>) -> Result<T, Error>,
) -> List<T> {
    let mut list = List::of(own, MovementRecord::FIELDS, record, read);
    list.shared_values = &["quantity", "description"];
    // Usually one supplier delivers a product, so the two columns correlate.
    list.clusters = &[(&["supplier"], &["product"])];
    list
}

/// The searched text of a movement: title, serie number, description and the user who booked it.
macro_rules! texts {
    ($kind:literal) => {
        Columns::Text(
            "m.created_at, m.id, m.product_id, p.title || '\n' || COALESCE(p.serie_number, '') || '\n' ||
             COALESCE(m.description, '') || '\n' || COALESCE(l.user_name, '')",
            concat!(
                " JOIN products AS p ON p.id = m.product_id LEFT JOIN ledger_entries AS l ON l.reference_id = m.id AND l.id = ",
                entry_of_movement!($kind, "m.id")
            ),
        )
    };
}

static TEXTS_OF_INFLOWS: List<SearchedText> = list(&INFLOWS, texts!("'inflow'"), text_of);
static TEXTS_OF_OUTFLOWS: List<SearchedText> = list(&OUTFLOWS, texts!("'outflow'"), text_of);

static SEARCH_OF_INFLOWS: TextSearch = search_of(&TEXTS_OF_INFLOWS);
static SEARCH_OF_OUTFLOWS: TextSearch = search_of(&TEXTS_OF_OUTFLOWS);

const fn search_of(texts: &'static List<SearchedText>) -> TextSearch {
    TextSearch {
        texts,
        most_read: 10_000,
        most_found: 1_000,
    }
}

pub(crate) fn list_of(movement: Movement) -> &'static List<MovementRecord> {
    match movement {
        Movement::Inflow => &LIST_OF_INFLOWS,
        Movement::Outflow => &LIST_OF_OUTFLOWS,
    }
}

#[derive(Debug, Clone)]
pub(in crate::stock::movements) struct MovementList {
    movement: Movement,
    pub(in crate::stock::movements) selection: Selection<MovementRecord>,
}

impl MovementList {
    pub(in crate::stock::movements) fn newest(movement: Movement) -> Self {
        Self::of(movement, Vec::new(), vec![NEWEST_FIRST])
    }

    fn of(movement: Movement, conditions: Vec<Condition>, order: Vec<OrderBy>) -> Self {
        let mut selection = Selection {
            list: list_of(movement),
            conditions,
            order,
        };
        selection.drop_constant_orders();
        Self {
            movement,
            selection,
        }
    }

    /// Parses the query string.
    pub(in crate::stock::movements) fn parse(
        movement: Movement,
        parameters: &Parameters,
    ) -> Result<Self, FieldErrors> {
        let mut filters = Filters::new(parameters);
        let mut conditions = Vec::new();
        if movement == Movement::Inflow {
            let supplier = filters.id("supplier");
            let is_supplier = |id| Condition::new("supplier", "supplier_id", Test::is(id));
            conditions.extend(supplier.map(is_supplier));
        }
        let product = filters.id("product");
        conditions.extend(product.map(|id| Condition::new("product", "product_id", Test::is(id))));
        let from = filters.day_start(FROM.name);
        let until = filters.day_start(TO.name).map(|day| day + DAY);
        let days = [
            from.map(|from| Test::AtLeast(from.into())),
            until.map(|until| Test::Below(until.into())),
        ];
        let days = days.into_iter().flatten();
        conditions.extend(days.map(|test| Condition::new("created_at", "created_at", test)));
        filters.finish().into_result()?;
        let mut order = ordering(parameters, movement.fields(), NEWEST_FIRST);
        for by in &mut order {
            // A movement never changes, so both times are the same column.
            if by.field == "updated_at" {
                by.field = "created_at";
            }
        }
        Ok(Self::of(movement, conditions, order))
    }

    /// The number of selected movements, and the range of their ids.
    pub(in crate::stock::movements) async fn stats(
        &self,
        conn: &mut Conn,
    ) -> Result<QueryStats, Error> {
        let movement = self.movement;
        let (mut supplier, mut product, mut from, mut until) = (None, None, None, None);
        for condition in &self.selection.conditions {
            match (condition.field, &condition.test) {
                ("supplier", Test::Is(OwnedValue::Integer(id))) => supplier = Some(*id),
                ("product", Test::Is(OwnedValue::Integer(id))) => product = Some(*id),
                (_, Test::AtLeast(OwnedValue::Timestamp(moment))) => from = Some(*moment),
                (_, Test::Below(OwnedValue::Timestamp(moment))) => until = Some(*moment),
                _ => {}
            }
        }
        let all = aggregates::movement_range(conn, movement, None, None, None).await?;
        if product.is_some() {
            let count = self.selection.count(conn, None).await?;
            return Ok(QueryStats::of(count, all.count));
        }
        let has_days = from.is_some() || until.is_some();
        let range = match supplier {
            None if !has_days => all,
            _ => aggregates::movement_range(conn, movement, supplier, from, until).await?,
        };
        Ok(QueryStats {
            ids: has_days.then_some(range.ids),
            ..QueryStats::of(range.count, all.count)
        })
    }

    /// A page of the newest of the selected movements that a text search finds, in the order of the
    /// list.
    pub(in crate::stock::movements) async fn search(
        &self,
        conn: &mut Conn,
        query: &TextQuery,
        part: PageRange,
    ) -> Result<Matches<MovementRecord>, Error> {
        let search = match self.movement {
            Movement::Inflow => &SEARCH_OF_INFLOWS,
            Movement::Outflow => &SEARCH_OF_OUTFLOWS,
        };
        let newest = Selection {
            order: by_time(true),
            ..self.selection.clone()
        };
        let (ids, is_cut) = newest.search_ids(conn, search, query).await?;
        let count = ids.len() as u64;
        let (found, stats) = (self.selection.with_ids(ids), QueryStats::of(count, count));
        Ok(Matches {
            count,
            records: found.page(conn, &stats, part).await?,
            is_cut,
        })
    }

    pub(in crate::stock::movements) async fn list(
        &self,
        conn: &mut Conn,
        request: PageRequest,
    ) -> Result<Page<MovementRecord>, Refusal> {
        let stats = self.stats(conn).await?;
        self.selection.list(conn, &stats, request).await
    }
}
