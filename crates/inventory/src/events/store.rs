//! Lists of endpoints and deliveries, whose tables the crate `delivery` writes, and the products of
//! events.

use db::{Conn, Error, Query};
use resource::Record as _;

use super::{Delivery, Endpoint, Filter};
use crate::listing::{
    Columns, Condition, Index, List, SearchedText, Selection, Table, Test, TextSearch, by_id,
    text_of,
};

/// The endpoints of this service. The column `searched` has all searched texts. Addresses are ASCII,
/// so `lower` folds them on both engines.
static ENDPOINTS: Table = Table {
    name: "(SELECT *, lower(url) || '\n' || description_folded AS searched FROM webhook_endpoints WHERE service = 'inventory')",
    alias: "w",
    indexes: &[],
    ..Table::OWN
};

pub(super) static ENDPOINT_LIST: List<Endpoint> = List::described(&ENDPOINTS);

static DELIVERIES: Table = Table {
    name: "(SELECT d.* FROM deliveries AS d JOIN webhook_endpoints AS w ON w.id = d.endpoint_id WHERE w.service = 'inventory')",
    alias: "d",
    indexes: &[Index::any("id")],
    ..Table::OWN
};

static DELIVERY_LIST: List<Delivery> = List {
    record: Columns::OfFields(
        || Delivery::FIELDS,
        " JOIN events AS e ON e.id = d.event_id JOIN webhook_endpoints AS w ON w.id = d.endpoint_id",
    ),
    ..List::described(&DELIVERIES)
};

/// The texts that a search covers: event type, product, endpoint and outcome.
static DELIVERY_TEXTS: List<SearchedText> = List::of(
    &DELIVERIES,
    Delivery::FIELDS,
    Columns::Text(
        "d.created_at, d.id, d.subject_id, e.type || '\n' || COALESCE(p.title, '') || '\n' || w.url || '\n' ||
         COALESCE(d.last_outcome, '') || ' ' || COALESCE(CAST(d.last_status AS TEXT), '')",
        " JOIN events AS e ON e.id = d.event_id JOIN webhook_endpoints AS w ON w.id = d.endpoint_id
          LEFT JOIN products AS p ON p.id = d.subject_id",
    ),
    text_of,
);

pub(super) static DELIVERY_SEARCH: TextSearch = TextSearch {
    texts: &DELIVERY_TEXTS,
    most_read: 10_000,
    most_found: usize::MAX,
};

/// Deliveries, newest first.
pub(super) fn deliveries(filter: Filter) -> Selection<Delivery> {
    let state = filter.state.map(|state| Test::is(state.name()));
    let tests = [
        ("state", "state", state),
        ("endpoint", "endpoint_id", filter.endpoint.map(Test::is)),
        ("event", "event_id", filter.event.map(Test::is)),
        ("subject", "subject_id", filter.subject.map(Test::is)),
    ];
    let conditions = tests
        .into_iter()
        .filter_map(|(field, column, test)| Some(Condition::new(field, column, test?)));
    Selection {
        list: &DELIVERY_LIST,
        conditions: conditions.collect(),
        order: by_id(true),
    }
}

/// The ids and titles of existing products.
pub(super) async fn titles(conn: &mut Conn, products: &[i64]) -> Result<Vec<(i64, String)>, Error> {
    let mut query = Query::new("SELECT id, title FROM products WHERE id");
    query.any_of(products.iter().copied());
    conn.all_of(&query, |row| Ok((row.get(0)?, row.get(1)?)))
        .await
}
