-- Inflows in the order of their products' titles come from an index: the folded title stands beside each. Whoever changes a title changes
-- it here too, in the same transaction. Sales have no such column: booking one must stay short.
ALTER TABLE inflows ADD COLUMN title_folded TEXT NOT NULL DEFAULT '';
UPDATE inflows SET title_folded = (SELECT p.title_folded FROM products AS p WHERE p.id = inflows.product_id);
CREATE INDEX inflows_title ON inflows (title_folded, id);
CREATE INDEX inflows_supplier_title ON inflows (supplier_id, title_folded, id);

-- How many products there are of each price, by how many digits a price has in hundredths and the first three of them: a stretch of prices
-- is counted by adding these up, and counting only its first and its last.
CREATE TABLE price_tallies (
    band     INTEGER PRIMARY KEY,
    products INTEGER NOT NULL
) STRICT;
-- What is noted by now is added when it is folded.
INSERT INTO price_tallies (band, products)
SELECT length(counted.digits) * 1000 + CAST(substr(counted.digits, 1, 3) AS INTEGER), sum(counted.products)
FROM (
    SELECT ltrim(replace(selling_price, '.', ''), '0') AS digits, 1 AS products FROM products
    UNION ALL
    SELECT ltrim(replace(selling_price, '.', ''), '0'), -products FROM tally_changes WHERE products <> 0
) AS counted
GROUP BY 1;

-- The beginning of a product's description beside each entry of a word, so that a search is ordered by it without a look at products that
-- are not among the first. 60 characters: an entry has a bounded size.
CREATE TABLE word_entries (
    word_id           INTEGER NOT NULL,
    title_folded      TEXT    NOT NULL,
    product_id        INTEGER NOT NULL,
    category_id       INTEGER NOT NULL,
    brand_id          INTEGER NOT NULL,
    cost_price        TEXT    NOT NULL,
    selling_price     TEXT    NOT NULL,
    description_begin TEXT,
    CONSTRAINT product_words_pkey PRIMARY KEY (word_id, title_folded, product_id)
) STRICT, WITHOUT ROWID;
INSERT INTO word_entries (word_id, title_folded, product_id, category_id, brand_id, cost_price, selling_price, description_begin)
SELECT w.word_id, w.title_folded, w.product_id, w.category_id, w.brand_id, w.cost_price, w.selling_price, substr(p.description_key, 1, 60)
FROM product_words AS w CROSS JOIN products AS p ON p.id = w.product_id ORDER BY w.word_id, w.title_folded, w.product_id;
DROP TABLE product_words;
ALTER TABLE word_entries RENAME TO product_words;
