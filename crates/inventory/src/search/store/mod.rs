//! SQL that maintains the index of titles in the transaction of each change, and verifies it.

mod lookup;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use db::{Conn, Error, Kind, Money, Query, Rows, Tx};
use resource::sql;

use super::words::{endings, pieces};
pub(crate) use lookup::{
    Within, entries_of, has_word, ids_of_name, nearest, push_word_ids, words_with,
};

/// Adds the index entries of a product for the words of its title.
pub(crate) async fn add(tx: &mut Tx, product: i64, title_folded: &str) -> Result<(), Error> {
    let words = pieces(title_folded);
    if words.is_empty() {
        return Ok(());
    }
    let new = insert_words(tx, &words).await?;
    if !new.is_empty() {
        insert_endings(tx, &new).await?;
    }
    let mut query = Query::new(
        "INSERT INTO product_words (word_id, title_folded, product_id, category_id, brand_id, cost_price, selling_price)
         SELECT w.id, ",
    );
    query
        .bind(title_folded)
        .push(", p.id, p.category_id, p.brand_id, p.cost_price, p.selling_price FROM products AS p CROSS JOIN search_words AS w WHERE p.id = ")
        .bind(product)
        .push(" AND w.word IN (");
    push_list(&mut query, &words);
    query.push(")");
    tx.execute_of(&query).await.map(drop)
}

/// Removes the index entries of a product.
pub(crate) async fn remove(tx: &mut Tx, product: i64, title_folded: &str) -> Result<(), Error> {
    let words = pieces(title_folded);
    if words.is_empty() {
        return Ok(());
    }
    let mut query = Query::new("DELETE FROM product_words WHERE title_folded = ");
    query
        .bind(title_folded)
        .push(" AND product_id = ")
        .bind(product)
        .push(" AND word_id IN (SELECT w.id FROM search_words AS w WHERE w.word IN (");
    push_list(&mut query, &words);
    query.push("))");
    tx.execute_of(&query).await.map(drop)
}

/// Updates the index entries of a product after a change of its title or of the copied columns.
pub(crate) async fn renew(tx: &mut Tx, product: i64, old: &str, new: &str) -> Result<(), Error> {
    if old != new {
        remove(tx, product, old).await?;
        return add(tx, product, new).await;
    }
    let words = pieces(new);
    if words.is_empty() {
        return Ok(());
    }
    let mut query = Query::new(
        "UPDATE product_words SET category_id = p.category_id, brand_id = p.brand_id, cost_price = p.cost_price,
                                  selling_price = p.selling_price
         FROM products AS p WHERE p.id = ",
    );
    query
        .bind(product)
        .push(" AND product_words.product_id = p.id AND product_words.title_folded = ")
        .bind(new)
        .push(
            " AND product_words.word_id IN (SELECT w.id FROM search_words AS w WHERE w.word IN (",
        );
    push_list(&mut query, &words);
    query.push("))");
    tx.execute_of(&query).await.map(drop)
}

/// Inserts the words that are not in the index, and returns them. They are inserted in sorted
/// order, so that concurrent transactions do not deadlock.
async fn insert_words(tx: &mut Tx, words: &BTreeSet<String>) -> Result<Vec<(i64, String)>, Error> {
    let mut query = Query::new("INSERT INTO search_words (word) VALUES (");
    for (number, word) in words.iter().enumerate() {
        query.push(if number == 0 { "" } else { "), (" });
        query.bind(word.as_str());
    }
    query.push(") ON CONFLICT (word) DO NOTHING RETURNING id, word");
    tx.all_of(&query, |row| Ok((row.get(0)?, row.get(1)?)))
        .await
}

async fn insert_endings(tx: &mut Tx, words: &[(i64, String)]) -> Result<(), Error> {
    let mut query = Query::new("INSERT INTO search_endings (ending, word_id) VALUES (");
    let rows = words.iter().flat_map(|(id, word)| {
        let endings = endings(word).into_iter();
        endings.map(move |ending| (ending, *id))
    });
    for (number, (ending, id)) in rows.enumerate() {
        query.push(if number == 0 { "" } else { "), (" });
        query.bind(ending).push(", ").bind(id);
    }
    query.push(")");
    tx.execute_of(&query).await.map(drop)
}

fn push_list(query: &mut Query, words: &BTreeSet<String>) {
    for (number, word) in words.iter().enumerate() {
        query.push(if number == 0 { "" } else { ", " });
        query.bind(word.as_str());
    }
}

const WORDS: &[(&str, Kind)] = &[("id", Kind::Integer), ("word", Kind::Text)];
const ENDINGS: &[(&str, Kind)] = &[("ending", Kind::Text), ("word_id", Kind::Integer)];
const PRODUCTS: &[(&str, Kind)] = &[
    ("word_id", Kind::Integer),
    ("title_folded", Kind::Text),
    ("product_id", Kind::Integer),
    ("category_id", Kind::Integer),
    ("brand_id", Kind::Integer),
    ("cost_price", Kind::Money),
    ("selling_price", Kind::Money),
];

/// The words of many titles, collected in memory for a rebuild of the index.
struct Vocabulary {
    ids: HashMap<String, i64>,
    words: Rows,
    endings: Rows,
}

impl Vocabulary {
    /// The id of a word. A new word gets the next id, and rows for itself and its endings.
    fn id_of(&mut self, word: String) -> i64 {
        if let Some(id) = self.ids.get(&word) {
            return *id;
        }
        let id = i64::try_from(self.ids.len() + 1).unwrap_or(i64::MAX);
        self.words.push([id.into(), word.as_str().into()]);
        for ending in endings(&word) {
            self.endings.push([ending.into(), id.into()]);
        }
        self.ids.insert(word, id);
        id
    }
}

/// Products per batch of a rebuild.
const BATCH: i64 = 4000;

/// Rebuilds the index from the titles of all products.
pub(crate) async fn rebuild(tx: &mut Tx) -> Result<(), Error> {
    for table in ["product_words", "search_endings", "search_words"] {
        tx.execute_of(&sql::delete_all(table)).await?;
    }
    let mut vocabulary = Vocabulary {
        ids: HashMap::new(),
        words: Rows::new("search_words", WORDS),
        endings: Rows::new("search_endings", ENDINGS),
    };
    let mut entries = Rows::new("product_words", PRODUCTS);
    let mut last = 0_i64;
    loop {
        let products = tx
            .all(
                "SELECT id, title_folded, category_id, brand_id, cost_price, selling_price FROM products
                 WHERE id > $1 ORDER BY id LIMIT $2",
                &[&last, &BATCH],
                |row| {
                    let title: String = row.get(1)?;
                    let columns: (i64, i64, Money, Money) =
                        (row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?);
                    Ok((row.get::<i64>(0)?, title, columns))
                },
            )
            .await?;
        let Some((id, ..)) = products.last() else {
            break;
        };
        last = *id;
        for (id, title, (category, brand, cost_price, selling_price)) in &products {
            for word in pieces(title) {
                entries.push([
                    vocabulary.id_of(word).into(),
                    title.as_str().into(),
                    (*id).into(),
                    (*category).into(),
                    (*brand).into(),
                    (*cost_price).into(),
                    (*selling_price).into(),
                ]);
            }
        }
        for rows in [&mut vocabulary.words, &mut vocabulary.endings, &mut entries] {
            tx.insert_rows(rows).await?;
        }
    }
    tx.move_ids_on("search_words").await
}

/// The ids of products whose index entries are wrong, or that were deleted but still have entries;
/// at most `most`. Runs one statement per word, so that no statement takes long in a large shop.
pub(crate) async fn wrong_products(conn: &mut Conn, most: usize) -> Result<Vec<i64>, Error> {
    let mut indexed = IndexEntries::default();
    for (id, word) in words(conn).await? {
        conn.all(
            "SELECT w.product_id, p.title_folded,
                    CASE WHEN w.title_folded = p.title_folded AND w.category_id = p.category_id AND w.brand_id = p.brand_id
                         AND w.cost_price = p.cost_price AND w.selling_price = p.selling_price THEN 1 ELSE 0 END
             FROM product_words AS w LEFT JOIN products AS p ON p.id = w.product_id WHERE w.word_id = $1",
            &[&id],
            |row| {
                let title: Option<String> = row.get(1)?;
                let is_of_title = title.is_some_and(|title| pieces(&title).contains(&word));
                indexed.add(row.get(0)?, is_of_title && row.get::<i64>(2)? == 1);
                Ok(())
            },
        )
        .await?;
    }
    conn.all(
        "SELECT product_id FROM product_words WHERE word_id NOT IN (SELECT id FROM search_words)",
        &[],
        |row| {
            indexed.add(row.get(0)?, false);
            Ok(())
        },
    )
    .await?;
    conn.all("SELECT id, title_folded FROM products", &[], |row| {
        indexed.compare(row.get(0)?, pieces(&row.get::<String>(1)?).len());
        Ok(())
    })
    .await?;
    Ok(indexed.wrong.into_iter().take(most).collect())
}

/// All words of the index by id.
async fn words(conn: &mut Conn) -> Result<BTreeMap<i64, String>, Error> {
    let words = conn.all("SELECT id, word FROM search_words", &[], |row| {
        Ok((row.get(0)?, row.get(1)?))
    });
    Ok(words.await?.into_iter().collect())
}

/// The checked index entries of products or of words.
#[derive(Default)]
struct IndexEntries {
    /// The number of correct entries of each product or word.
    good: HashMap<i64, usize>,
    wrong: BTreeSet<i64>,
}

impl IndexEntries {
    fn add(&mut self, id: i64, is_good: bool) {
        if is_good {
            *self.good.entry(id).or_default() += 1;
        } else {
            self.wrong.insert(id);
        }
    }

    /// Compares with the number of entries that there should be.
    fn compare(&mut self, id: i64, expected: usize) {
        if self.good.get(&id).copied().unwrap_or_default() != expected {
            self.wrong.insert(id);
        }
    }
}

/// The ids of words whose endings are wrong, or that were deleted but still have endings; at most
/// `most`.
pub(crate) async fn wrong_words(conn: &mut Conn, most: usize) -> Result<Vec<i64>, Error> {
    let (words, mut indexed) = (words(conn).await?, IndexEntries::default());
    conn.all("SELECT word_id, ending FROM search_endings", &[], |row| {
        let (id, ending): (i64, String) = (row.get(0)?, row.get(1)?);
        let word = words.get(&id);
        indexed.add(id, word.is_some_and(|word| endings(word).contains(&ending)));
        Ok(())
    })
    .await?;
    for (id, word) in &words {
        indexed.compare(*id, endings(word).len());
    }
    Ok(indexed.wrong.into_iter().take(most).collect())
}
