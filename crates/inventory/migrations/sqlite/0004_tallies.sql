-- Figures that lists and the dashboard would otherwise have to count: movements and sales by UTC day, stock by category and brand.
-- A change is noted in the transaction that makes it and folded into the tallies afterwards, so that no row is wanted by every sale;
-- at any moment the tallies and the notes that are not yet folded are exact together.

CREATE TABLE tally_changes (
    id                 INTEGER PRIMARY KEY AUTOINCREMENT,
    -- What was booked (1) or deleted (-1) on which day, with the prices when it was booked. NULL and 0: no movement.
    movement           TEXT CONSTRAINT tally_changes_movement_check CHECK (movement IN ('inflow', 'outflow')),
    supplier_id        INTEGER,
    day                INTEGER,
    movements          INTEGER NOT NULL,
    moved              INTEGER NOT NULL,
    moved_cost_price   TEXT NOT NULL CONSTRAINT tally_changes_moved_cost_price_check CHECK (length(moved_cost_price) = 23),
    moved_selling_price TEXT NOT NULL CONSTRAINT tally_changes_moved_selling_price_check CHECK (length(moved_selling_price) = 23),
    -- Units of that day's sales that are, from now on, worth the present prices below; negative: no longer.
    present            INTEGER NOT NULL,
    -- What changed on the shelves.
    category_id        INTEGER NOT NULL,
    brand_id           INTEGER NOT NULL,
    products           INTEGER NOT NULL,
    units              INTEGER NOT NULL,
    cost_price         TEXT NOT NULL CONSTRAINT tally_changes_cost_price_check CHECK (length(cost_price) = 23),
    selling_price      TEXT NOT NULL CONSTRAINT tally_changes_selling_price_check CHECK (length(selling_price) = 23)
) STRICT;

-- Totals are decimal numbers written as text: units times prices outgrow every column of numbers, and must not lose a cent.
-- Amounts are in hundredths.
CREATE TABLE day_tallies (
    movement      TEXT    NOT NULL,
    -- 0: all suppliers together.
    supplier_id   INTEGER NOT NULL,
    -- Its first moment, in UTC.
    day           INTEGER NOT NULL,
    movements     INTEGER NOT NULL,
    units         TEXT    NOT NULL,
    cost          TEXT    NOT NULL,
    value         TEXT    NOT NULL,
    present_cost  TEXT    NOT NULL,
    present_value TEXT    NOT NULL,
    CONSTRAINT day_tallies_pkey PRIMARY KEY (movement, supplier_id, day)
) STRICT, WITHOUT ROWID;

CREATE TABLE stock_tallies (
    -- 'category' or 'brand'.
    dimension TEXT    NOT NULL,
    record_id INTEGER NOT NULL,
    products  INTEGER NOT NULL,
    units     TEXT    NOT NULL,
    cost      TEXT    NOT NULL,
    value     TEXT    NOT NULL,
    CONSTRAINT stock_tallies_pkey PRIMARY KEY (dimension, record_id)
) STRICT, WITHOUT ROWID;

-- One row once the tallies hold everything that was stored before there were any.
CREATE TABLE tallies_filled (
    id        INTEGER PRIMARY KEY CONSTRAINT tallies_filled_id_check CHECK (id = 1),
    filled_at INTEGER NOT NULL
) STRICT;
