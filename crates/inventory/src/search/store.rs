//! Statements that maintain the index of titles, in the transaction that writes a title, and those that compare it with the titles.

use std::collections::{BTreeSet, HashMap};

use db::{Conn, Error, Kind, Money, Query, Row, Rows, Tx};

use super::words::{endings, pieces};

/// Enters a product, as it stands, under the words of its title.
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
        "INSERT INTO product_words (word_id, title_folded, product_id, category_id, brand_id, cost_price, selling_price, description_begin)
         SELECT w.id, ",
    );
    query
        .bind(title_folded)
        .push(", p.id, p.category_id, p.brand_id, p.cost_price, p.selling_price, substr(p.description_key, 1, 60) FROM products AS p CROSS JOIN search_words AS w WHERE p.id = ")
        .bind(product)
        .push(" AND w.word IN (");
    push_list(&mut query, &words);
    query.push(")");
    tx.execute_of(&query).await.map(drop)
}

/// Takes a product out from under the words of its title.
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

/// Enters a product as it stands now, under its new title's words instead of the old one's.
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
                                  selling_price = p.selling_price, description_begin = substr(p.description_key, 1, 60)
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

/// Adds the words that are not known, in their order so that writers wait for each other in one order, and says which.
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
    ("description_begin", Kind::Text),
];

/// Characters of a description's key that stand beside each word; statements have the number written out.
const BEGINNING: usize = 60;

/// What stands beside a product's words.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) category: i64,
    pub(crate) brand: i64,
    pub(crate) cost_price: Money,
    pub(crate) selling_price: Money,
    /// Of the description.
    pub(crate) key: Option<String>,
}

/// The index of many titles at once, while an empty catalogue is filled.
#[derive(Debug)]
pub(crate) struct Vocabulary {
    known: HashMap<String, i64>,
    words: Rows,
    endings: Rows,
    products: Rows,
}

impl Vocabulary {
    /// No word yet.
    pub(crate) fn new() -> Self {
        Self {
            known: HashMap::new(),
            words: Rows::new("search_words", WORDS),
            endings: Rows::new("search_endings", ENDINGS),
            products: Rows::new("product_words", PRODUCTS),
        }
    }

    /// A product with its title.
    pub(crate) fn product(&mut self, product: i64, title_folded: &str, place: &Place) {
        let begins = place.key.as_deref().map(|key| {
            let characters = key.chars().take(BEGINNING);
            characters.collect::<String>()
        });
        for word in pieces(title_folded) {
            let id = self.id_of(word);
            self.products.push([
                id.into(),
                title_folded.into(),
                product.into(),
                place.category.into(),
                place.brand.into(),
                place.cost_price.into(),
                place.selling_price.into(),
                begins.as_deref().into(),
            ]);
        }
    }

    fn id_of(&mut self, word: String) -> i64 {
        if let Some(id) = self.known.get(&word) {
            return *id;
        }
        let id = i64::try_from(self.known.len() + 1).unwrap_or(i64::MAX);
        self.words.push([id.into(), word.as_str().into()]);
        for ending in endings(&word) {
            self.endings.push([ending.into(), id.into()]);
        }
        self.known.insert(word, id);
        id
    }

    /// Sends what waits.
    pub(crate) async fn send(&mut self, tx: &mut Tx) -> Result<(), Error> {
        for rows in [&mut self.words, &mut self.endings, &mut self.products] {
            tx.insert_rows(rows).await?;
        }
        Ok(())
    }
}

/// Forgets the words that products had before all of them went.
pub(crate) async fn clear(tx: &mut Tx) -> Result<(), Error> {
    tx.execute("DELETE FROM search_endings", &[]).await?;
    tx.execute("DELETE FROM search_words", &[]).await.map(drop)
}

/// Moves the counter of words behind those that a [`Vocabulary`] brought.
pub(crate) async fn move_counter(tx: &mut Tx) -> Result<(), Error> {
    tx.move_ids_on("search_words").await
}

/// Products of which the index has other words than their titles have, or another place beside them, or which are gone: at most so many.
pub(crate) async fn wrong_products(conn: &mut Conn, most: usize) -> Result<Vec<i64>, Error> {
    let mut compared = Compared::new(pieces, most);
    conn.all(
        "SELECT COALESCE(p.id, w.product_id), p.title_folded, s.word,
                CASE WHEN w.product_id IS NULL OR (
                    w.title_folded = p.title_folded AND w.category_id = p.category_id AND w.brand_id = p.brand_id
                    AND w.cost_price = p.cost_price AND w.selling_price = p.selling_price
                    AND COALESCE(w.description_begin, '') = COALESCE(substr(p.description_key, 1, 60), '')
                ) THEN 1 ELSE 0 END
         FROM products AS p FULL JOIN product_words AS w ON w.product_id = p.id LEFT JOIN search_words AS s ON s.id = w.word_id
         ORDER BY 1",
        &[],
        |row| compared.add(row, row.get::<i64>(3)? == 1),
    )
    .await?;
    Ok(compared.end())
}

/// Words of which the index has other endings than they have, or which are gone: at most so many.
pub(crate) async fn wrong_words(conn: &mut Conn, most: usize) -> Result<Vec<i64>, Error> {
    let mut compared = Compared::new(endings, most);
    conn.all(
        "SELECT COALESCE(s.id, e.word_id), s.word, e.ending
         FROM search_words AS s FULL JOIN search_endings AS e ON e.word_id = s.id ORDER BY 1",
        &[],
        |row| compared.add(row, true),
    )
    .await?;
    Ok(compared.end())
}

/// Texts compared with the parts of them that are stored, text by text.
struct Compared {
    parts: fn(&str) -> BTreeSet<String>,
    now: Option<(i64, BTreeSet<String>)>,
    stored: BTreeSet<String>,
    is_good: bool,
    wrong: Vec<i64>,
    most: usize,
}

impl Compared {
    fn new(parts: fn(&str) -> BTreeSet<String>, most: usize) -> Self {
        Self {
            parts,
            now: None,
            stored: BTreeSet::new(),
            is_good: true,
            wrong: Vec::new(),
            most,
        }
    }

    /// A row: the text's id, the text unless it is gone, a part unless there is none, and whether the part is good by itself. All of an id
    /// come in a row.
    fn add(&mut self, row: &Row<'_>, is_good: bool) -> Result<(), Error> {
        let id = row.get(0)?;
        if self.now.as_ref().is_none_or(|(now, _)| *now != id) {
            self.close();
            let text: Option<String> = row.get(1)?;
            self.is_good = text.is_some();
            self.now = Some((id, text.as_deref().map(self.parts).unwrap_or_default()));
        }
        self.is_good &= is_good;
        self.stored.extend(row.get::<Option<String>>(2)?);
        Ok(())
    }

    fn close(&mut self) {
        let stored = std::mem::take(&mut self.stored);
        if let Some((id, parts)) = self.now.take()
            && !(self.is_good && parts == stored)
            && self.wrong.len() < self.most
        {
            self.wrong.push(id);
        }
    }

    fn end(mut self) -> Vec<i64> {
        self.close();
        self.wrong
    }
}
