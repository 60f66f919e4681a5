-- The index that search goes by, and what tells that a counted list of products is still the same. The program writes both with the
-- products; this fills them for those that are there.

-- The words of titles: what stands between blanks, 3 characters or longer, cut into overlapping pieces of 96.
CREATE TABLE search_words (
    id   INTEGER PRIMARY KEY AUTOINCREMENT,
    word TEXT NOT NULL CONSTRAINT search_words_word_key UNIQUE
) STRICT;
-- Every ending of every word, its first 24 characters: what stands within a word begins one of its endings.
CREATE TABLE search_endings (
    ending  TEXT    NOT NULL,
    word_id INTEGER NOT NULL,
    CONSTRAINT search_endings_pkey PRIMARY KEY (ending, word_id)
) STRICT, WITHOUT ROWID;
-- The products of each word in the order of their titles, as the list shows them when nothing else is asked for.
CREATE TABLE product_words (
    word_id      INTEGER NOT NULL,
    title_folded TEXT    NOT NULL,
    product_id   INTEGER NOT NULL,
    CONSTRAINT product_words_pkey PRIMARY KEY (word_id, title_folded, product_id)
) STRICT, WITHOUT ROWID;

-- Grows with every change of a product's own fields, in its transaction: the sum is the version of what lists are counted by.
-- Many rows, so that writers of different products do not wait for each other.
CREATE TABLE product_versions (
    shard   INTEGER PRIMARY KEY,
    version INTEGER NOT NULL
) STRICT;

-- Lists with two filters, and those whose order says nothing of their filter.
CREATE INDEX products_category_brand ON products (category_id, brand_id, id);
DROP INDEX products_cost_price;
CREATE INDEX products_cost_price ON products (cost_price, id, selling_price);
CREATE INDEX inflows_supplier ON inflows (supplier_id, id);

CREATE TEMPORARY TABLE piece AS
WITH RECURSIVE
    split (product_id, word, rest) AS (
        SELECT id, '', title_folded || ' ' FROM products
        UNION ALL
        SELECT product_id, substr(rest, 1, instr(rest, ' ') - 1), substr(rest, instr(rest, ' ') + 1) FROM split WHERE rest <> ''
    ),
    cut (product_id, word) AS (
        SELECT product_id, word FROM split WHERE length(word) >= 3
        UNION ALL
        SELECT product_id, substr(word, 74) FROM cut WHERE length(word) > 96
    )
SELECT DISTINCT product_id, substr(word, 1, 96) AS word FROM cut;

INSERT INTO search_words (word) SELECT DISTINCT word FROM piece ORDER BY word;
INSERT INTO search_endings (ending, word_id)
WITH RECURSIVE place (word_id, word, start) AS (
    SELECT id, word, 1 FROM search_words
    UNION ALL
    SELECT word_id, word, start + 1 FROM place WHERE start + 3 <= length(word)
)
SELECT DISTINCT substr(word, start, 24), word_id FROM place;
INSERT INTO product_words (word_id, title_folded, product_id)
SELECT w.id, p.title_folded, p.id FROM piece JOIN search_words AS w ON w.word = piece.word JOIN products AS p ON p.id = piece.product_id
ORDER BY w.id, p.title_folded, p.id;

DROP TABLE piece;
