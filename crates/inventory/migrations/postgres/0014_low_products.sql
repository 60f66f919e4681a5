-- How many products are low, at any moment: each change that makes a product low (1), or no longer (-1), is noted with the others and
-- folded into one row. What is low depends on the shop's threshold, which is a setting: the row says under which one it was counted.
ALTER TABLE tally_changes ADD COLUMN low BIGINT NOT NULL DEFAULT 0;

CREATE TABLE low_tally (
    id        BIGINT PRIMARY KEY CONSTRAINT low_tally_id_check CHECK (id = 1),
    threshold BIGINT NOT NULL,
    products  BIGINT NOT NULL
);
