-- Who may do what. Names are compared as written: `Ana` and `ana` are two users.
CREATE TABLE users (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    username      TEXT    NOT NULL CONSTRAINT users_username_key UNIQUE,
    username_folded TEXT NOT NULL,
    email         TEXT    NOT NULL,
    email_folded  TEXT    NOT NULL,
    first_name    TEXT    NOT NULL,
    first_name_folded TEXT NOT NULL,
    last_name     TEXT    NOT NULL,
    last_name_folded TEXT NOT NULL,
    -- Argon2id in PHC form; NULL is an account that no password opens.
    password_hash TEXT,
    active        INTEGER NOT NULL CONSTRAINT users_active_check CHECK (active IN (0, 1)),
    staff         INTEGER NOT NULL CONSTRAINT users_staff_check CHECK (staff IN (0, 1)),
    superuser     INTEGER NOT NULL CONSTRAINT users_superuser_check CHECK (superuser IN (0, 1)),
    last_login    INTEGER,
    -- Tokens made before this second are revoked, all at once. NULL: none are.
    tokens_valid_from INTEGER,
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL
) STRICT;

CREATE TABLE groups (
    id   INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL CONSTRAINT groups_name_key UNIQUE,
    name_folded TEXT NOT NULL
) STRICT;

CREATE TABLE user_groups (
    user_id  INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    group_id INTEGER NOT NULL REFERENCES groups (id) ON DELETE CASCADE,
    CONSTRAINT user_groups_pkey PRIMARY KEY (user_id, group_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX user_groups_group_id ON user_groups (group_id);

-- A permission is its code name, such as add_brand: the list of them is in the program.
CREATE TABLE group_permissions (
    group_id   INTEGER NOT NULL REFERENCES groups (id) ON DELETE CASCADE,
    permission TEXT    NOT NULL,
    CONSTRAINT group_permissions_pkey PRIMARY KEY (group_id, permission)
) STRICT, WITHOUT ROWID;

CREATE TABLE user_permissions (
    user_id    INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    permission TEXT    NOT NULL,
    CONSTRAINT user_permissions_pkey PRIMARY KEY (user_id, permission)
) STRICT, WITHOUT ROWID;

-- The cookie's value stands only as its SHA-256, so a copy of this table opens nothing.
CREATE TABLE sessions (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    token_hash   TEXT    NOT NULL CONSTRAINT sessions_token_hash_key UNIQUE,
    user_id      INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    csrf_secret  TEXT    NOT NULL,
    address      TEXT    NOT NULL,
    agent        TEXT    NOT NULL,
    created_at   INTEGER NOT NULL,
    last_seen_at INTEGER NOT NULL,
    expires_at   INTEGER NOT NULL,
    -- Whether the reader asked to stay logged in: two weeks instead of a working day.
    remembered   INTEGER NOT NULL CONSTRAINT sessions_remembered_check CHECK (remembered IN (0, 1))
) STRICT;
CREATE INDEX sessions_user_id ON sessions (user_id);
CREATE INDEX sessions_expires_at ON sessions (expires_at);

-- Refresh tokens that were logged out before their time; rows go when the token would have expired.
CREATE TABLE revoked_tokens (
    jti        TEXT    NOT NULL CONSTRAINT revoked_tokens_pkey PRIMARY KEY,
    user_id    INTEGER NOT NULL,
    revoked_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX revoked_tokens_expires_at ON revoked_tokens (expires_at);

CREATE TABLE second_factors (
    user_id    INTEGER NOT NULL CONSTRAINT second_factors_pkey PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    -- Encrypted with a key that is not in the database.
    secret     TEXT    NOT NULL,
    -- The time step of the last code that was taken: none is taken twice.
    last_step  INTEGER NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

-- The digests of codes for whoever lost the device; a row goes when its code is used.
CREATE TABLE recovery_codes (
    user_id   INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    code_hash TEXT    NOT NULL,
    CONSTRAINT recovery_codes_pkey PRIMARY KEY (user_id, code_hash)
) STRICT, WITHOUT ROWID;

-- Failed attempts at passwords and codes; rows go when no limit counts them any more. Names that nobody has share a bounded number of rows.
CREATE TABLE login_attempts (
    subject    TEXT NOT NULL CONSTRAINT login_attempts_pkey PRIMARY KEY,
    -- Moments in microseconds with the number of attempts in each: `1700000000000000x1 …`.
    moments    TEXT NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX login_attempts_expires_at ON login_attempts (expires_at);

-- Where users have logged in from, as keyed digests: other people's guesses do not lock these addresses out.
CREATE TABLE known_addresses (
    user_id       INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    address_hash  TEXT NOT NULL,
    last_login_at INTEGER NOT NULL,
    CONSTRAINT known_addresses_pkey PRIMARY KEY (user_id, address_hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX known_addresses_last_login_at ON known_addresses (last_login_at);

-- Brands, categories, suppliers and products.
-- Text is kept as written and once more folded (lower case, accents removed): search and order use the folded form.
-- description_key is the folded description's first 200 characters: enough to order by, short enough to index.
-- Brands, categories and suppliers are few: in another order than by name they are sorted.

CREATE TABLE brands (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    name            TEXT    NOT NULL,
    name_folded     TEXT    NOT NULL,
    description     TEXT,
    description_key TEXT,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL
) STRICT;
CREATE INDEX brands_name ON brands (name_folded, id);

CREATE TABLE categories (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    name            TEXT    NOT NULL,
    name_folded     TEXT    NOT NULL,
    description     TEXT,
    description_key TEXT,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL
) STRICT;
CREATE INDEX categories_name ON categories (name_folded, id);

CREATE TABLE suppliers (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    name            TEXT    NOT NULL,
    name_folded     TEXT    NOT NULL,
    description     TEXT,
    description_key TEXT,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL
) STRICT;
CREATE INDEX suppliers_name ON suppliers (name_folded, id);

CREATE TABLE products (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    title           TEXT    NOT NULL,
    title_folded    TEXT    NOT NULL,
    category_id     INTEGER NOT NULL CONSTRAINT products_category_id_fkey REFERENCES categories (id),
    brand_id        INTEGER NOT NULL CONSTRAINT products_brand_id_fkey REFERENCES brands (id),
    description     TEXT,
    description_key TEXT,
    serie_number    TEXT    CONSTRAINT products_serie_number_key UNIQUE,
    -- Folded for the order of lists; uniqueness is of the number as written.
    serie_number_folded TEXT,
    cost_price      TEXT    NOT NULL CONSTRAINT products_cost_price_check CHECK (length(cost_price) = 23),
    selling_price   TEXT    NOT NULL CONSTRAINT products_selling_price_check CHECK (length(selling_price) = 23),
    created_at      INTEGER NOT NULL
) STRICT;
-- One index for each order, with what lists filter by beside it: whatever is asked for, a list is read along its order without a look at
-- the products that do not match, or the few that match are sorted.
CREATE INDEX products_title ON products (title_folded, id, category_id, brand_id, selling_price);
CREATE INDEX products_description ON products (description_key, id, category_id, brand_id, selling_price);
CREATE INDEX products_serie_number ON products (serie_number_folded, id, category_id, brand_id, selling_price);
CREATE INDEX products_cost_price ON products (cost_price, id, category_id, brand_id, selling_price);
CREATE INDEX products_selling_price ON products (selling_price, id, category_id, brand_id);
CREATE INDEX products_created_at ON products (created_at, id, category_id, brand_id, selling_price);
CREATE INDEX products_category ON products (category_id, id, brand_id, selling_price);
CREATE INDEX products_brand ON products (brand_id, id, category_id, selling_price);

-- What movements change stands apart from what people edit, so that a sale touches few indexes.
-- One row a product; category and brand are repeated so that lists filtered by them come in order from an index.
CREATE TABLE product_stock (
    product_id  INTEGER PRIMARY KEY CONSTRAINT product_stock_product_id_fkey REFERENCES products (id) ON DELETE CASCADE,
    category_id INTEGER NOT NULL,
    brand_id    INTEGER NOT NULL,
    -- Changed by the stock ledger alone; the database itself refuses to owe goods.
    quantity    INTEGER NOT NULL CONSTRAINT product_stock_quantity_check CHECK (quantity >= 0),
    -- NULL: the shop's own threshold holds.
    threshold   INTEGER CONSTRAINT product_stock_threshold_check CHECK (threshold >= 0),
    updated_at  INTEGER NOT NULL,
    -- Since when the product is in no list of goods, and nothing of it comes in or goes out. NULL: it is not archived.
    archived_at INTEGER
) STRICT;
-- By quantity and by time of change, of a category or a brand too: many rows match along the index, few are sorted.
CREATE INDEX product_stock_quantity ON product_stock (quantity, product_id, category_id, brand_id);
CREATE INDEX product_stock_updated_at ON product_stock (updated_at, product_id, category_id, brand_id);
-- The low-stock list: nearly all products keep the shop's threshold, and few of them are low.
CREATE INDEX product_stock_own_threshold ON product_stock (threshold, quantity, product_id) WHERE threshold IS NOT NULL;
-- Archived products, which the numbers of lists leave out.
CREATE INDEX product_stock_archived ON product_stock (archived_at, product_id) WHERE archived_at IS NOT NULL;

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
    -- Why an adjustment was made, where somebody said so, and a note of theirs.
    reason         TEXT    CONSTRAINT ledger_entries_reason_check CHECK (reason IN ('counted', 'broken', 'lost', 'found', 'other')),
    note           TEXT,
    created_at     INTEGER NOT NULL
) STRICT;
-- The ledger of one product by time, and where it begins.
CREATE INDEX ledger_entries_product_created_at ON ledger_entries (product_id, created_at, id);
CREATE INDEX ledger_entries_opening ON ledger_entries (product_id, id) WHERE kind = 'opening';
-- When a product was sold out: demand is told from the other days.
CREATE INDEX ledger_entries_empty ON ledger_entries (product_id, created_at, id) WHERE balance_after = 0;
-- The ledger of the whole shop by time: the administration narrows it to a year, a month or a day.
CREATE INDEX ledger_entries_created_at ON ledger_entries (created_at, id);

CREATE TABLE inflows (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    supplier_id     INTEGER NOT NULL CONSTRAINT inflows_supplier_id_fkey REFERENCES suppliers (id),
    product_id      INTEGER NOT NULL CONSTRAINT inflows_product_id_fkey REFERENCES products (id),
    quantity        INTEGER NOT NULL CONSTRAINT inflows_quantity_check CHECK (quantity >= 1),
    description     TEXT,
    description_key TEXT,
    -- The product's folded title, for lists in the order of titles. Who changes a title changes it here too, in the same transaction.
    -- Sales have no such column: booking one must stay short.
    title_folded    TEXT NOT NULL,
    -- A movement never changes, so this is its updated_at as well.
    created_at      INTEGER NOT NULL
) STRICT;
-- As of products: one index for each order, with the supplier beside it.
CREATE INDEX inflows_created_at ON inflows (created_at, id, supplier_id);
CREATE INDEX inflows_quantity ON inflows (quantity, id, supplier_id);
CREATE INDEX inflows_description ON inflows (description_key, id, supplier_id);
CREATE INDEX inflows_title ON inflows (title_folded, id, supplier_id);
CREATE INDEX inflows_product_created_at ON inflows (product_id, created_at, id, quantity, description_key);
CREATE INDEX inflows_supplier ON inflows (supplier_id, id);

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
-- The outflows of one product, with all that orders them: what it sold in some days is answered from the index alone.
CREATE INDEX outflows_product_created_at ON outflows (product_id, created_at, id, quantity, description_key);

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

-- Figures that lists and the dashboard would otherwise have to count: movements and sales by UTC day, stock by category and brand.
-- A change is recorded as a delta in its own transaction and compacted into the aggregates afterwards, so no row is wanted by every sale;
-- at any moment the aggregates and the deltas that are not yet compacted are exact together.

CREATE TABLE aggregate_deltas (
    id                 INTEGER PRIMARY KEY AUTOINCREMENT,
    -- What was booked (1) or deleted (-1) on which day, with the prices when it was booked. NULL and 0: no movement.
    movement           TEXT CONSTRAINT aggregate_deltas_movement_check CHECK (movement IN ('inflow', 'outflow')),
    supplier_id        INTEGER,
    day                INTEGER,
    movements          INTEGER NOT NULL,
    moved              INTEGER NOT NULL,
    moved_cost_price   TEXT NOT NULL CONSTRAINT aggregate_deltas_moved_cost_price_check CHECK (length(moved_cost_price) = 23),
    moved_selling_price TEXT NOT NULL CONSTRAINT aggregate_deltas_moved_selling_price_check CHECK (length(moved_selling_price) = 23),
    -- Units of that day's sales that are, from now on, worth the present prices below; negative: no longer.
    present            INTEGER NOT NULL,
    -- What changed on the shelves.
    category_id        INTEGER NOT NULL,
    brand_id           INTEGER NOT NULL,
    products           INTEGER NOT NULL,
    units              INTEGER NOT NULL,
    cost_price         TEXT NOT NULL CONSTRAINT aggregate_deltas_cost_price_check CHECK (length(cost_price) = 23),
    selling_price      TEXT NOT NULL CONSTRAINT aggregate_deltas_selling_price_check CHECK (length(selling_price) = 23),
    -- The movement that was booked; NULL where none was.
    movement_id        INTEGER,
    -- 1: the product became low; -1: it no longer is.
    low                INTEGER NOT NULL DEFAULT 0
) STRICT;

-- Totals are decimal numbers written as text: units times prices outgrow every column of numbers, and must not lose a cent.
-- Amounts are in hundredths.
CREATE TABLE daily_aggregates (
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
    CONSTRAINT daily_aggregates_pkey PRIMARY KEY (movement, supplier_id, day)
) STRICT, WITHOUT ROWID;

CREATE TABLE stock_aggregates (
    -- 'category' or 'brand'.
    dimension TEXT    NOT NULL,
    record_id INTEGER NOT NULL,
    products  INTEGER NOT NULL,
    units     TEXT    NOT NULL,
    cost      TEXT    NOT NULL,
    value     TEXT    NOT NULL,
    CONSTRAINT stock_aggregates_pkey PRIMARY KEY (dimension, record_id)
) STRICT, WITHOUT ROWID;

-- Where a day's movements lie among the ids. Ids follow time wherever nobody imports an old file, and nothing promises that they do: so
-- what is known of each day is kept, and a list of some days in another order than by time begins where they begin.
CREATE TABLE day_spans (
    movement TEXT NOT NULL,
    -- Its first moment, in UTC.
    day      INTEGER NOT NULL,
    -- None of the day is outside; what was deleted since may have been the first or the last.
    first_id INTEGER NOT NULL,
    last_id  INTEGER NOT NULL,
    CONSTRAINT day_spans_pkey PRIMARY KEY (movement, day)
) STRICT, WITHOUT ROWID;

-- How many products are low. What is low depends on the shop's threshold, which is a setting: the row says under which one it was counted.
CREATE TABLE low_stock_aggregate (
    id        INTEGER PRIMARY KEY CONSTRAINT low_stock_aggregate_id_check CHECK (id = 1),
    threshold INTEGER NOT NULL,
    products  INTEGER NOT NULL
) STRICT;

-- The index that search goes by, and what tells that a counted list of products is still the same. The program writes both with the
-- products.

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
-- The products of each word in the order of their titles, as the list shows them when nothing else is asked for. What a search is
-- narrowed and ordered by stands beside each entry, so that it is counted and sorted without a look at any product.
CREATE TABLE product_words (
    word_id           INTEGER NOT NULL,
    title_folded      TEXT NOT NULL,
    product_id        INTEGER NOT NULL,
    category_id       INTEGER NOT NULL,
    brand_id          INTEGER NOT NULL,
    cost_price        TEXT NOT NULL,
    selling_price     TEXT NOT NULL,
    CONSTRAINT product_words_pkey PRIMARY KEY (word_id, title_folded, product_id)
) STRICT, WITHOUT ROWID;

-- Grows with every change of a product's own fields, in its transaction: the sum is the version of what lists are counted by.
-- Many rows, so that writers of different products do not wait for each other.
CREATE TABLE product_versions (
    shard   INTEGER PRIMARY KEY,
    version INTEGER NOT NULL
) STRICT;

-- Who changed which record, and when. A row outlives its record and its user, so nothing here refers to them.
CREATE TABLE audit_entries (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    -- NULL: the program itself. The name stays when the user is gone.
    user_id     INTEGER,
    user_name   TEXT,
    action      TEXT    NOT NULL CONSTRAINT audit_entries_action_check CHECK (action IN ('added', 'changed', 'deleted', 'imported', 'asked', 'refused', 'canceled', 'refunded')),
    model       TEXT    NOT NULL,
    -- NULL: many records at once, as an import brings them, or a record of checkout whose id is no number.
    object_id   INTEGER,
    object_text TEXT    NOT NULL,
    -- The changed fields as JSON, with their values before and after where these are kept.
    changes     TEXT    NOT NULL,
    created_at  INTEGER NOT NULL
) STRICT;
CREATE INDEX audit_entries_created_at ON audit_entries (created_at, id);
CREATE INDEX audit_entries_user ON audit_entries (user_id, created_at, id);
CREATE INDEX audit_entries_action ON audit_entries (action, created_at, id);
CREATE INDEX audit_entries_model ON audit_entries (model, created_at, id);
CREATE INDEX audit_entries_object ON audit_entries (model, object_id, id);

-- Restock analyses: what waits to be analysed, what came of it, and what the shop assumes of its suppliers.

-- One row a product while its analysis waits or runs: ten sales of a product that is low are one analysis.
CREATE TABLE analysis_requests (
    product_id   INTEGER PRIMARY KEY CONSTRAINT analysis_requests_product_id_fkey REFERENCES products (id) ON DELETE CASCADE,
    requested_at INTEGER NOT NULL,
    -- Not before then. A worker that takes the row moves it to where its lease ends, so that a row outlives its worker.
    due_at       INTEGER NOT NULL,
    -- Calls of the language model that failed so far and may be repeated.
    tries        INTEGER NOT NULL DEFAULT 0,
    -- Who holds it, beginning with the id of its replica; NULL while it waits.
    lease        TEXT,
    -- The person who wants it now; NULL when low stock asked.
    asked_by     TEXT
) STRICT;
CREATE INDEX analysis_requests_due_at ON analysis_requests (due_at);

-- A result stays as it was made, whatever becomes of the product: so there is no foreign key.
CREATE TABLE analyses (
    id                 INTEGER PRIMARY KEY AUTOINCREMENT,
    -- NULL: of the whole shop.
    product_id         INTEGER,
    result             TEXT    NOT NULL,
    created_at         INTEGER NOT NULL,
    -- Where it comes from: not shown by the API, whose record is text and time alone.
    source             TEXT    NOT NULL CONSTRAINT analyses_source_check CHECK (source IN ('formula', 'model')),
    -- How the model's part went, or why it had none.
    outcome            TEXT    NOT NULL,
    language           TEXT    NOT NULL,
    model              TEXT,
    prompt_version     TEXT,
    -- SHA-256 of what was computed from and told to the model.
    inputs_digest      TEXT    NOT NULL,
    duration_ms        INTEGER NOT NULL,
    prompt_tokens      INTEGER,
    completion_tokens  INTEGER,
    finish_reason      TEXT,
    asked_by           TEXT,
    suggested_quantity INTEGER,
    -- The computed figures, as JSON.
    figures            TEXT    NOT NULL
) STRICT;
CREATE INDEX analyses_product ON analyses (product_id, id);

-- What is known of a product's supply; NULL: what the shop assumes of all.
CREATE TABLE restock_terms (
    product_id          INTEGER PRIMARY KEY CONSTRAINT restock_terms_product_id_fkey REFERENCES products (id) ON DELETE CASCADE,
    -- Days, and hundredths of a day.
    lead_time           INTEGER,
    lead_time_deviation INTEGER,
    -- Hundredths of a percent.
    service_level       INTEGER,
    -- Days.
    review_interval     INTEGER,
    -- Units.
    pack_multiple       INTEGER
) STRICT;

-- Every call of the language model, from before it is made: the caps count these rows, on all replicas and after a restart.
CREATE TABLE model_calls (
    id                INTEGER PRIMARY KEY AUTOINCREMENT,
    called_at         INTEGER NOT NULL,
    outcome           TEXT    NOT NULL,
    duration_ms       INTEGER,
    prompt_tokens     INTEGER,
    completion_tokens INTEGER
) STRICT;
CREATE INDEX model_calls_called_at ON model_calls (called_at);
-- Its one row is what replicas queue at while they count.
CREATE TABLE model_quota (
    id      INTEGER PRIMARY KEY CONSTRAINT model_quota_id_check CHECK (id = 1),
    counted INTEGER NOT NULL
) STRICT;
INSERT INTO model_quota (id, counted) VALUES (1, 0);

-- The reports of the whole shop that are due by schedule, one a period: whoever makes its row makes the report.
CREATE TABLE report_runs (
    period TEXT    NOT NULL CONSTRAINT report_runs_pkey PRIMARY KEY,
    due_at INTEGER NOT NULL,
    lease  TEXT,
    done   INTEGER NOT NULL CONSTRAINT report_runs_done_check CHECK (done IN (0, 1))
) STRICT, WITHOUT ROWID;

-- Uploaded files and imports: checked first, then published and undone as a whole, in short transactions.

CREATE TABLE imports (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    -- NULL: imported with the command line.
    user_id    INTEGER,
    user_name  TEXT    NOT NULL,
    resource   TEXT    NOT NULL,
    file_name  TEXT    NOT NULL,
    state      TEXT    NOT NULL CONSTRAINT imports_state_check
               CHECK (state IN ('checked', 'staging', 'publishing', 'withdrawing', 'discarding', 'done', 'undone')),
    -- 1 while some process is at work on it: one import at a time.
    under_way  INTEGER CONSTRAINT imports_under_way_key UNIQUE CONSTRAINT imports_under_way_check CHECK (under_way = 1),
    -- Why it turned back, in both languages; NULL while it goes on as was asked.
    problem    TEXT,
    -- Records that were, or would be, added.
    added      INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    -- When it was last begun, and when it last came on.
    began_at   INTEGER,
    progress_at INTEGER
) STRICT;
CREATE INDEX imports_user ON imports (user_id, id);

-- The file itself, from the check until the records are there. It stands apart, since SQLite writes a row whole whenever it changes.
CREATE TABLE import_files (
    import_id INTEGER CONSTRAINT import_files_pkey PRIMARY KEY CONSTRAINT import_files_import_id_fkey REFERENCES imports (id) ON DELETE CASCADE,
    content   TEXT NOT NULL
) STRICT;

-- What an import added, so that it can be undone.
CREATE TABLE import_records (
    import_id INTEGER NOT NULL CONSTRAINT import_records_import_id_fkey REFERENCES imports (id) ON DELETE CASCADE,
    object_id INTEGER NOT NULL,
    CONSTRAINT import_records_pkey PRIMARY KEY (import_id, object_id)
) STRICT, WITHOUT ROWID;

-- Categories and brands that an import creates by name: what the check found, and the records once they are there.
CREATE TABLE import_names (
    import_id INTEGER NOT NULL CONSTRAINT import_names_import_id_fkey REFERENCES imports (id) ON DELETE CASCADE,
    kind      TEXT NOT NULL,
    name      TEXT NOT NULL,
    -- The first row that needs it.
    line      INTEGER NOT NULL,
    object_id INTEGER,
    CONSTRAINT import_names_pkey PRIMARY KEY (import_id, kind, name)
) STRICT, WITHOUT ROWID;

-- Rows that are no records yet, some hundreds of them as one JSON array.
CREATE TABLE import_chunks (
    import_id INTEGER NOT NULL CONSTRAINT import_chunks_import_id_fkey REFERENCES imports (id) ON DELETE CASCADE,
    number    INTEGER NOT NULL,
    rows      TEXT NOT NULL,
    CONSTRAINT import_chunks_pkey PRIMARY KEY (import_id, number)
) STRICT;

-- What such rows refer to: none of it is deleted before they are records.
CREATE TABLE import_pins (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    import_id   INTEGER NOT NULL CONSTRAINT import_pins_import_id_fkey REFERENCES imports (id) ON DELETE CASCADE,
    category_id INTEGER CONSTRAINT import_pins_category_id_fkey REFERENCES categories (id),
    brand_id    INTEGER CONSTRAINT import_pins_brand_id_fkey REFERENCES brands (id),
    supplier_id INTEGER CONSTRAINT import_pins_supplier_id_fkey REFERENCES suppliers (id),
    product_id  INTEGER CONSTRAINT import_pins_product_id_fkey REFERENCES products (id),
    CONSTRAINT import_pins_category_key UNIQUE (category_id, import_id),
    CONSTRAINT import_pins_brand_key UNIQUE (brand_id, import_id),
    CONSTRAINT import_pins_supplier_key UNIQUE (supplier_id, import_id),
    CONSTRAINT import_pins_product_key UNIQUE (product_id, import_id)
) STRICT;
CREATE INDEX import_pins_import ON import_pins (import_id);

-- Serie numbers of such rows, so that no product takes one meanwhile. Whoever gives a product its number holds it here until the end of
-- the transaction, without an import: so the two wait for each other.
CREATE TABLE import_serie_numbers (
    serie_number TEXT NOT NULL CONSTRAINT import_serie_numbers_pkey PRIMARY KEY,
    import_id    INTEGER CONSTRAINT import_serie_numbers_import_id_fkey REFERENCES imports (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX import_serie_numbers_import ON import_serie_numbers (import_id);

-- Lists with their filters and order, each under a name that its user gave it.
CREATE TABLE saved_views (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id     INTEGER NOT NULL CONSTRAINT saved_views_user_id_fkey REFERENCES users (id) ON DELETE CASCADE,
    name        TEXT NOT NULL,
    name_folded TEXT NOT NULL,
    address     TEXT NOT NULL,
    CONSTRAINT saved_views_user_id_name_folded_key UNIQUE (user_id, name_folded)
) STRICT;

-- Lists of products that are worked through line by line and booked as a whole: goods of one supplier's invoice that are received, and
-- counts of the stock. Each is its maker's draft until it is booked, and undoing that makes it a draft again. A draft keeps nobody from
-- deleting a supplier or a product, so it refers to them without foreign keys, and ids are never used twice.
CREATE TABLE stock_documents (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    kind        TEXT    NOT NULL CONSTRAINT stock_documents_kind_check CHECK (kind IN ('receipt', 'count')),
    user_id     INTEGER NOT NULL CONSTRAINT stock_documents_user_id_fkey REFERENCES users (id) ON DELETE CASCADE,
    -- Who delivered; of receipts.
    supplier_id INTEGER,
    -- The number of a receipt's invoice, empty without one; what a count is about.
    label       TEXT    NOT NULL,
    updated_at  INTEGER NOT NULL,
    -- NULL: a draft.
    booked_at   INTEGER
) STRICT;
CREATE INDEX stock_documents_user ON stock_documents (user_id, kind, updated_at, id) WHERE booked_at IS NULL;
CREATE INDEX stock_documents_booked_at ON stock_documents (kind, booked_at, id) WHERE booked_at IS NOT NULL;

CREATE TABLE stock_document_lines (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    document_id INTEGER NOT NULL CONSTRAINT stock_document_lines_document_id_fkey REFERENCES stock_documents (id) ON DELETE CASCADE,
    product_id  INTEGER NOT NULL,
    -- As it was called when it was added, for a line whose product is gone.
    title       TEXT    NOT NULL,
    -- Units that came, or that were counted. NULL: not counted yet.
    quantity    INTEGER CONSTRAINT stock_document_lines_quantity_check CHECK (quantity >= 0),
    -- What was in stock when the quantity was written: a count differs from this, whatever was sold since.
    expected    INTEGER,
    -- What was booked of it; of receipts.
    inflow_id   INTEGER,
    CONSTRAINT stock_document_lines_product_key UNIQUE (document_id, product_id)
) STRICT;

-- Orders that were paid at a checkout and whose goods leave. One row an order, whatever became of it, so that each is booked once. The lines
-- refer to outflows without foreign keys: who deletes an outflow takes its goods back, and the order was booked all the same.
CREATE TABLE paid_orders (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    -- The order's id at its checkout.
    order_id  TEXT    NOT NULL CONSTRAINT paid_orders_order_id_key UNIQUE,
    reference TEXT,
    -- Waiting: nothing is booked, and somebody has to look. By hand: somebody booked it otherwise.
    state     TEXT    NOT NULL CONSTRAINT paid_orders_state_check CHECK (state IN ('waiting', 'booked', 'by_hand')),
    told_at   INTEGER NOT NULL
) STRICT;
CREATE INDEX paid_orders_waiting ON paid_orders (id) WHERE state = 'waiting';

-- The units of one serie number in an order.
CREATE TABLE paid_order_lines (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    paid_order_id INTEGER NOT NULL CONSTRAINT paid_order_lines_paid_order_id_fkey REFERENCES paid_orders (id) ON DELETE CASCADE,
    sku           TEXT    NOT NULL,
    -- As the order calls it.
    title         TEXT    NOT NULL,
    quantity      INTEGER NOT NULL CONSTRAINT paid_order_lines_quantity_check CHECK (quantity >= 1),
    -- What was booked of it.
    outflow_id    INTEGER,
    CONSTRAINT paid_order_lines_sku_key UNIQUE (paid_order_id, sku)
) STRICT;
CREATE INDEX paid_order_lines_outflow ON paid_order_lines (outflow_id);

-- The groups of the specification. Members of Admin administer accounts too; the audit log is theirs to read and nobody's to write.
INSERT INTO groups (name, name_folded) VALUES ('Admin', 'admin'), ('Managers', 'managers');
INSERT INTO group_permissions (group_id, permission)
SELECT g.id, v.verb || '_' || m.model
FROM groups AS g
CROSS JOIN (SELECT 'add' AS verb UNION ALL SELECT 'change' UNION ALL SELECT 'delete' UNION ALL SELECT 'view') AS v
CROSS JOIN (SELECT 'brand' AS model UNION ALL SELECT 'category' UNION ALL SELECT 'supplier' UNION ALL SELECT 'product'
            UNION ALL SELECT 'inflow' UNION ALL SELECT 'outflow' UNION ALL SELECT 'analysis') AS m
WHERE g.name = 'Admin' OR (g.name = 'Managers' AND v.verb <> 'delete');
INSERT INTO group_permissions (group_id, permission)
SELECT g.id, v.verb || '_' || m.model
FROM groups AS g
CROSS JOIN (SELECT 'add' AS verb UNION ALL SELECT 'change' UNION ALL SELECT 'delete' UNION ALL SELECT 'view') AS v
CROSS JOIN (SELECT 'user' AS model UNION ALL SELECT 'group' UNION ALL SELECT 'webhook_endpoint') AS m
WHERE g.name = 'Admin';
INSERT INTO group_permissions (group_id, permission)
SELECT g.id, p.permission
FROM groups AS g
CROSS JOIN (SELECT 'Admin' AS holder, 'view_audit_entry' AS permission
            UNION ALL SELECT 'Admin', 'view_session'
            UNION ALL SELECT 'Admin', 'delete_session'
            UNION ALL SELECT 'Admin', 'view_refresh_token'
            UNION ALL SELECT 'Admin', 'change_refresh_token'
            UNION ALL SELECT 'Admin', 'change_delivery'
            UNION ALL SELECT 'Admin', 'view_delivery'
            UNION ALL SELECT 'Admin', 'view_order'
            UNION ALL SELECT 'Admin', 'add_order'
            UNION ALL SELECT 'Admin', 'refund_payment'
            UNION ALL SELECT 'Managers', 'view_order'
            UNION ALL SELECT 'Managers', 'add_order'
            UNION ALL SELECT 'Managers', 'view_webhook_endpoint'
            UNION ALL SELECT 'Managers', 'change_delivery'
            UNION ALL SELECT 'Managers', 'view_delivery') AS p
WHERE g.name = p.holder;
