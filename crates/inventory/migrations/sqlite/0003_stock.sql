-- Movements, the ledger behind every quantity, and what must be told of them.

-- Every change of a quantity is one immutable row: the sum of a product's changes is its quantity at every commit.
-- No foreign key: the ledger outlives a deleted product.
CREATE TABLE ledger_entries (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    product_id     INTEGER NOT NULL,
    kind           TEXT    NOT NULL CONSTRAINT ledger_entries_kind_check
                   CHECK (kind IN ('opening', 'inflow', 'outflow', 'adjustment', 'inflow_reversed', 'outflow_reversed')),
    change         INTEGER NOT NULL,
    balance_after  INTEGER NOT NULL CONSTRAINT ledger_entries_balance_after_check CHECK (balance_after >= 0),
    -- Prices at that moment: a sale is valued at the price when sold.
    cost_price     TEXT    NOT NULL CONSTRAINT ledger_entries_cost_price_check CHECK (length(cost_price) = 23),
    selling_price  TEXT    NOT NULL CONSTRAINT ledger_entries_selling_price_check CHECK (length(selling_price) = 23),
    -- Who did it, by name too: the name is shown when the user is gone. NULL: the program itself.
    user_id        INTEGER,
    user_name      TEXT,
    -- The movement, for all kinds but opening and adjustment.
    reference_id   INTEGER,
    created_at     INTEGER NOT NULL
) STRICT;
CREATE INDEX ledger_entries_product ON ledger_entries (product_id, id);
CREATE INDEX ledger_entries_product_created_at ON ledger_entries (product_id, created_at, id);

CREATE TABLE inflows (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    supplier_id     INTEGER NOT NULL CONSTRAINT inflows_supplier_id_fkey REFERENCES suppliers (id),
    product_id      INTEGER NOT NULL CONSTRAINT inflows_product_id_fkey REFERENCES products (id),
    quantity        INTEGER NOT NULL CONSTRAINT inflows_quantity_check CHECK (quantity >= 1),
    description     TEXT,
    description_key TEXT,
    -- A movement never changes, so this is its updated_at as well.
    created_at      INTEGER NOT NULL
) STRICT;
CREATE INDEX inflows_created_at ON inflows (created_at, id);
CREATE INDEX inflows_quantity ON inflows (quantity, id);
CREATE INDEX inflows_description ON inflows (description_key, id);
CREATE INDEX inflows_product_created_at ON inflows (product_id, created_at, id);
CREATE INDEX inflows_product_quantity ON inflows (product_id, quantity, id);
CREATE INDEX inflows_product_description ON inflows (product_id, description_key, id);
CREATE INDEX inflows_supplier_created_at ON inflows (supplier_id, created_at, id);
CREATE INDEX inflows_supplier_quantity ON inflows (supplier_id, quantity, id);
CREATE INDEX inflows_supplier_description ON inflows (supplier_id, description_key, id);

CREATE TABLE outflows (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    product_id      INTEGER NOT NULL CONSTRAINT outflows_product_id_fkey REFERENCES products (id),
    quantity        INTEGER NOT NULL CONSTRAINT outflows_quantity_check CHECK (quantity >= 1),
    description     TEXT,
    description_key TEXT,
    created_at      INTEGER NOT NULL
) STRICT;
CREATE INDEX outflows_created_at ON outflows (created_at, id);
CREATE INDEX outflows_quantity ON outflows (quantity, id);
CREATE INDEX outflows_description ON outflows (description_key, id);
CREATE INDEX outflows_product_created_at ON outflows (product_id, created_at, id);
CREATE INDEX outflows_product_quantity ON outflows (product_id, quantity, id);
CREATE INDEX outflows_product_description ON outflows (product_id, description_key, id);

-- The answer to a movement that carried an Idempotency-Key, kept 72 hours; it commits with the movement.
CREATE TABLE idempotency_keys (
    user_id     INTEGER NOT NULL,
    path        TEXT    NOT NULL,
    key         TEXT    NOT NULL,
    fingerprint TEXT    NOT NULL,
    body        TEXT    NOT NULL,
    created_at  INTEGER NOT NULL,
    CONSTRAINT idempotency_keys_pkey PRIMARY KEY (user_id, path, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_keys_created_at ON idempotency_keys (created_at);

-- The outbox: written with the movement, read by the workers that deliver.
CREATE TABLE events (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    type       TEXT    NOT NULL,
    product_id INTEGER NOT NULL,
    payload    TEXT    NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX events_product ON events (product_id, id);
