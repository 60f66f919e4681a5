-- Where a day's movements lie among the ids. Ids follow time wherever nobody imports an old file, and nothing promises that they do: so
-- what is known of each day is kept, and a list of some days in another order than by time begins where they begin.

CREATE TABLE day_spans (
    movement TEXT        NOT NULL,
    -- Its first moment, in UTC.
    day      TIMESTAMPTZ NOT NULL,
    -- None of the day is outside; what was deleted since may have been the first or the last.
    first_id BIGINT      NOT NULL,
    last_id  BIGINT      NOT NULL,
    CONSTRAINT day_spans_pkey PRIMARY KEY (movement, day)
);
INSERT INTO day_spans (movement, day, first_id, last_id)
SELECT 'inflow', date_trunc('day', created_at AT TIME ZONE 'UTC') AT TIME ZONE 'UTC', min(id), max(id) FROM inflows GROUP BY 2;
INSERT INTO day_spans (movement, day, first_id, last_id)
SELECT 'outflow', date_trunc('day', created_at AT TIME ZONE 'UTC') AT TIME ZONE 'UTC', min(id), max(id) FROM outflows GROUP BY 2;

-- The movement that was booked. NULL, of an earlier version of the program: it may be anywhere.
ALTER TABLE tally_changes ADD COLUMN movement_id BIGINT;
-- What is noted by now is counted above.
UPDATE tally_changes SET movement_id = (SELECT s.last_id FROM day_spans AS s WHERE s.movement = tally_changes.movement AND s.day = tally_changes.day);

-- Prices in bands of a few per cent each: how many digits a price has in hundredths, and half of the first two. Products of a stretch of
-- prices come from the bands within it in orders that go along with prices.
ALTER TABLE products ADD COLUMN price_band BIGINT GENERATED ALWAYS AS (
    length(ltrim(replace(selling_price::text, '.', ''), '0')) * 50
    + COALESCE(NULLIF(left(ltrim(replace(selling_price::text, '.', ''), '0'), 2), ''), '0')::bigint / 2
) STORED;
CREATE INDEX products_band_title ON products (price_band, title_folded, id) INCLUDE (selling_price);
CREATE INDEX products_band_description ON products (price_band, description_key NULLS FIRST, id) INCLUDE (selling_price);
CREATE INDEX products_band_cost_price ON products (price_band, cost_price, id) INCLUDE (selling_price);

-- What a search is narrowed and ordered by stands beside each entry of a word: category, brand and prices of the product, so that it is counted
-- and sorted without a look at any product. The program writes them with the product.
ALTER TABLE product_words RENAME TO former_words;
ALTER TABLE former_words RENAME CONSTRAINT product_words_pkey TO former_words_pkey;
CREATE TABLE product_words (
    word_id       BIGINT NOT NULL,
    title_folded  TEXT COLLATE "C" NOT NULL,
    product_id    BIGINT NOT NULL,
    category_id   BIGINT NOT NULL,
    brand_id      BIGINT NOT NULL,
    cost_price    NUMERIC(22,2) NOT NULL,
    selling_price NUMERIC(22,2) NOT NULL
);
INSERT INTO product_words (word_id, title_folded, product_id, category_id, brand_id, cost_price, selling_price)
SELECT w.word_id, w.title_folded, w.product_id, p.category_id, p.brand_id, p.cost_price, p.selling_price
FROM former_words AS w JOIN products AS p ON p.id = w.product_id ORDER BY w.word_id, w.title_folded, w.product_id;
DROP TABLE former_words;
ALTER TABLE product_words ADD CONSTRAINT product_words_pkey PRIMARY KEY (word_id, title_folded, product_id)
    INCLUDE (category_id, brand_id, cost_price, selling_price);
