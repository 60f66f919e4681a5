//! SQL for the suggestions while a user types. Each statement reads a bounded number of index
//! entries, whatever the number of products.

use db::{Conn, Error, Query};

use crate::search::{self, Key, Within};

/// The most entries per word that are read when other words decide among them.
const LOOKED_AT: i64 = 500;
/// Up to this many entries are all read. Also the number of titles that are read without index.
const FEW: i64 = 2000;
const NOT_ARCHIVED: &str = " AND COALESCE((SELECT z.archived_at IS NULL FROM product_stock AS z WHERE z.product_id = u.id), FALSE)";

/// The products whose folded titles begin with a text, ordered by title.
pub(in crate::catalogue::products) async fn titled_from(
    conn: &mut Conn,
    text: &str,
    limit: i64,
) -> Result<Vec<i64>, Error> {
    let mut query = Query::new("SELECT u.id FROM products AS u WHERE ");
    search::begins(&mut query, "u.title_folded", text);
    query
        .push(NOT_ARCHIVED)
        .push(" ORDER BY u.title_folded, u.id LIMIT ")
        .bind(limit);
    conn.all_of(&query, |row| row.get(0)).await
}

/// The number of index entries of these words. Counting stops above `FEW`.
async fn count_entries(conn: &mut Conn, words: &[i64]) -> Result<i64, Error> {
    let mut query =
        Query::new("SELECT count(*) FROM (SELECT 1 FROM product_words AS w WHERE w.word_id");
    query.any_of(words.iter().copied());
    query.push(" LIMIT ").bind(FEW + 1).push(") AS counted");
    conn.one_of(&query, |row| row.get(0)).await
}

/// The set of words with the fewest index entries.
pub(in crate::catalogue::products) async fn rarest(
    conn: &mut Conn,
    sets: Vec<Vec<i64>>,
) -> Result<Option<(Vec<i64>, i64)>, Error> {
    let mut rarest: Option<(Vec<i64>, i64)> = None;
    for set in sets {
        let entries = if set.is_empty() {
            0
        } else {
            count_entries(conn, &set).await?
        };
        if rarest.as_ref().is_none_or(|(_, fewest)| entries < *fewest) {
            rarest = Some((set, entries));
        }
    }
    Ok(rarest)
}

/// The products with entries of these words whose titles contain all words, ordered by title.
pub(in crate::catalogue::products) async fn under(
    conn: &mut Conn,
    lead: &(Vec<i64>, i64),
    words: &[String],
    within: Within,
    limit: i64,
) -> Result<Vec<i64>, Error> {
    if lead.0.is_empty() {
        return Ok(Vec::new());
    }
    let mut query = Query::new("");
    push_under(&mut query, lead, words, within, limit);
    conn.all_of(&query, |row| row.get(0)).await
}

fn push_under(
    query: &mut Query,
    (lead, entries): &(Vec<i64>, i64),
    words: &[String],
    within: Within,
    limit: i64,
) {
    let most = match words {
        // Each entry matches already. Reads more than `limit`, as some products may be archived.
        [word] if Key::of(word).is_none_or(|key| key.exact) => limit.saturating_mul(4),
        _ if *entries <= FEW => FEW,
        _ => LOOKED_AT,
    };
    query.push("SELECT u.id FROM (");
    for (number, word) in lead.iter().enumerate() {
        query
            .push(if number == 0 { "" } else { " UNION ALL " })
            .push("SELECT f.id, f.title FROM (SELECT w.product_id AS id, w.title_folded AS title FROM product_words AS w WHERE w.word_id = ")
            .bind(*word)
            .push(" ORDER BY w.title_folded, w.product_id LIMIT ")
            .bind(most)
            .push(") AS f");
    }
    query.push(") AS u WHERE TRUE");
    push_words(query, "u.title", words, within);
    query
        .push(NOT_ARCHIVED)
        .push(" GROUP BY u.id, u.title ORDER BY u.title, u.id LIMIT ")
        .bind(limit);
}

/// The products among the first titles that contain all words, for words without index.
pub(in crate::catalogue::products) async fn among_first(
    conn: &mut Conn,
    words: &[String],
    within: Within,
    limit: i64,
) -> Result<Vec<i64>, Error> {
    let mut query = Query::new(
        "SELECT u.id FROM (SELECT p.id, p.title_folded AS title FROM products AS p
                           ORDER BY p.title_folded, p.id LIMIT ",
    );
    query.bind(FEW).push(") AS u WHERE TRUE");
    push_words(&mut query, "u.title", words, within);
    query.push(NOT_ARCHIVED);
    query.push(" ORDER BY u.title, u.id LIMIT ").bind(limit);
    conn.all_of(&query, |row| row.get(0)).await
}

fn push_words(query: &mut Query, column: &'static str, words: &[String], within: Within) {
    match within {
        Within::Beginning => search::begins_words(query, column, words),
        Within::Anywhere => search::contains(query, column, words),
    }
}

#[cfg(test)]
mod tests {
    use test_kit::on_both_engines;

    use super::*;
    use crate::plans;

    on_both_engines!(
        what_is_offered_while_somebody_types_is_read_along_the_index_of_words,
        async |address| {
            let db = plans::shop(&address, (3000, 1000), 30).await;
            plans::nothing_is_scanned(db, async |conn: &mut Conn| {
                let words = ["cafe".to_owned(), "kg".to_owned()];
                let mut scans = Vec::new();
                for within in [Within::Beginning, Within::Anywhere] {
                    let lead = search::words_with(conn, "caf", within, 40).await?;
                    assert!(!lead.is_empty() && lead.len() <= 40, "{within:?}");
                    let steps = plans::steps(conn, |mut query| {
                        push_under(&mut query, &(lead, 10), &words, within, 10);
                        query
                    })
                    .await?;
                    scans.extend(
                        steps
                            .into_iter()
                            .filter(|step| step.contains("Seq Scan") || step.contains("SCAN w")),
                    );
                }
                Ok(scans)
            })
            .await;
        }
    );
}
