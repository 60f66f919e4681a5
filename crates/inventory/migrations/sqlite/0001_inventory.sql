-- Users, groups and permissions. Usernames are case-sensitive: `Ana` and `ana` are two users.
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
    -- Argon2id in PHC format. NULL: nobody can log in with a password.
    password_hash TEXT,
    active        INTEGER NOT NULL CONSTRAINT users_active_check CHECK (active IN (0, 1)),
    staff         INTEGER NOT NULL CONSTRAINT users_staff_check CHECK (staff IN (0, 1)),
    superuser     INTEGER NOT NULL CONSTRAINT users_superuser_check CHECK (superuser IN (0, 1)),
    last_login    INTEGER,
    -- All tokens issued before this second are revoked. NULL: none are.
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

-- A permission is its code name, such as add_brand. The program has the list of permissions.
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

-- Only the SHA-256 of the cookie's token is stored, so a copy of this table gives no access.
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
    -- Whether the session lasts two weeks without a visit, as the user chose, instead of 12 hours.
    remembered   INTEGER NOT NULL CONSTRAINT sessions_remembered_check CHECK (remembered IN (0, 1))
) STRICT;
CREATE INDEX sessions_user_id ON sessions (user_id);
CREATE INDEX sessions_expires_at ON sessions (expires_at);

-- Refresh tokens that were revoked before they expired. Rows are deleted when the token expires.
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
    -- The time step of the last accepted code. No code is accepted twice.
    last_step  INTEGER NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

-- Digests of recovery codes, for users who have lost the device. Using a code deletes its row.
CREATE TABLE recovery_codes (
    user_id   INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    code_hash TEXT    NOT NULL,
    CONSTRAINT recovery_codes_pkey PRIMARY KEY (user_id, code_hash)
) STRICT, WITHOUT ROWID;

-- Failed attempts at passwords and codes, until they expire. Unknown usernames share a few rows.
CREATE TABLE login_attempts (
    subject    TEXT NOT NULL CONSTRAINT login_attempts_pkey PRIMARY KEY,
    -- Times in microseconds, each with its number of attempts: `1700000000000000x1 …`.
    moments    TEXT NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX login_attempts_expires_at ON login_attempts (expires_at);

-- Keyed digests of addresses that users log in from. Attempts from elsewhere do not block them.
CREATE TABLE known_addresses (
    user_id       INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    address_hash  TEXT NOT NULL,
    last_login_at INTEGER NOT NULL,
    CONSTRAINT known_addresses_pkey PRIMARY KEY (user_id, address_hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX known_addresses_last_login_at ON known_addresses (last_login_at);

-- Brands, categories, suppliers and products.
-- Text is stored as written and folded (lower case, no accents). Search and sort use the latter.
-- description_key is the start of the folded description: a sort key short enough for an index.
-- There are few brands, categories and suppliers, so only the name has an index for sorting.

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
    -- Folded for sorting. Uniqueness is of the number as written.
    serie_number_folded TEXT,
    cost_price      TEXT    NOT NULL CONSTRAINT products_cost_price_check CHECK (length(cost_price) = 23),
    selling_price   TEXT    NOT NULL CONSTRAINT products_selling_price_check CHECK (length(selling_price) = 23),
    created_at      INTEGER NOT NULL
) STRICT;
-- One index per sort field, which includes the columns of filters. So a list scans this index
-- without reading rows that do not match, or sorts few matches.
CREATE INDEX products_title ON products (title_folded, id, category_id, brand_id, selling_price);
CREATE INDEX products_description ON products (description_key, id, category_id, brand_id, selling_price);
CREATE INDEX products_serie_number ON products (serie_number_folded, id, category_id, brand_id, selling_price);
CREATE INDEX products_cost_price ON products (cost_price, id, category_id, brand_id, selling_price);
CREATE INDEX products_selling_price ON products (selling_price, id, category_id, brand_id);
CREATE INDEX products_created_at ON products (created_at, id, category_id, brand_id, selling_price);
CREATE INDEX products_category ON products (category_id, id, brand_id, selling_price);
CREATE INDEX products_brand ON products (brand_id, id, category_id, selling_price);

-- Columns that movements change are in a separate table, so that a sale updates few indexes.
-- One row per product. Category and brand are copies, for indexes that filter by them and sort.
CREATE TABLE product_stock (
    product_id  INTEGER PRIMARY KEY CONSTRAINT product_stock_product_id_fkey REFERENCES products (id) ON DELETE CASCADE,
    category_id INTEGER NOT NULL,
    brand_id    INTEGER NOT NULL,
    -- Only the stock ledger changes it. The constraint prevents a negative quantity.
    quantity    INTEGER NOT NULL CONSTRAINT product_stock_quantity_check CHECK (quantity >= 0),
    -- NULL: the threshold of the shop applies.
    threshold   INTEGER CONSTRAINT product_stock_threshold_check CHECK (threshold >= 0),
    updated_at  INTEGER NOT NULL,
    -- The time of an entry in the ledger that left updated_at as it was. NULL: there is none.
    booked_at   INTEGER,
    -- NULL: not archived. Archived products are hidden from lists, and nothing can be booked.
    archived_at INTEGER,
    -- Whether an alert was sent, and the product has not recovered since.
    alerted     INTEGER NOT NULL DEFAULT 0 CONSTRAINT product_stock_alerted_check CHECK (alerted IN (0, 1))
) STRICT;
-- Sort by quantity and by time of change, also within a category or a brand.
CREATE INDEX product_stock_quantity ON product_stock (quantity, product_id, category_id, brand_id);
CREATE INDEX product_stock_updated_at ON product_stock (updated_at, product_id, category_id, brand_id);
-- For the low-stock list: few products have their own threshold, and few products are low.
CREATE INDEX product_stock_own_threshold ON product_stock (threshold, quantity, product_id) WHERE threshold IS NOT NULL;
-- For counting archived products, which the counts of lists exclude.
CREATE INDEX product_stock_archived ON product_stock (archived_at, product_id) WHERE archived_at IS NOT NULL;

-- Movements, the stock ledger, and the responses to retried requests.

-- One immutable row per change of a quantity. At each commit, their sum is the quantity.
-- A row has the time of its booking, whatever the time of its movement. So the rows of a product
-- have one order, by id and by time, and a past balance is that of the last row up to then.
-- No foreign key, because the ledger keeps the entries of deleted products.
CREATE TABLE ledger_entries (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    product_id     INTEGER NOT NULL,
    kind           TEXT    NOT NULL CONSTRAINT ledger_entries_kind_check
                   CHECK (kind IN ('opening', 'inflow', 'outflow', 'adjustment', 'inflow_reversed', 'outflow_reversed')),
    change         INTEGER NOT NULL,
    balance_after  INTEGER NOT NULL CONSTRAINT ledger_entries_balance_after_check CHECK (balance_after >= 0),
    -- Prices at the time of the entry, at which sales are valued.
    cost_price     TEXT    NOT NULL CONSTRAINT ledger_entries_cost_price_check CHECK (length(cost_price) = 23),
    selling_price  TEXT    NOT NULL CONSTRAINT ledger_entries_selling_price_check CHECK (length(selling_price) = 23),
    -- The user, also by name, for display after the user was deleted. NULL: the program itself.
    user_id        INTEGER,
    user_name      TEXT,
    -- The movement. NULL for opening entries and adjustments.
    reference_id   INTEGER,
    -- Reason and note of an adjustment, both optional.
    reason         TEXT    CONSTRAINT ledger_entries_reason_check CHECK (reason IN ('counted', 'broken', 'lost', 'found', 'other')),
    note           TEXT,
    created_at     INTEGER NOT NULL
) STRICT;
-- The entries of a movement, for its prices and the user who booked it.
CREATE INDEX ledger_entries_reference ON ledger_entries (reference_id);
-- The ledger of a product by time, and its first entry.
CREATE INDEX ledger_entries_product_created_at ON ledger_entries (product_id, created_at, id);
CREATE INDEX ledger_entries_opening ON ledger_entries (product_id, id) WHERE kind = 'opening';
-- When a product was sold out. Demand is computed from the other days.
CREATE INDEX ledger_entries_empty ON ledger_entries (product_id, created_at, id) WHERE balance_after = 0;
-- The ledger of the shop by time, for filters by year, month or day.
CREATE INDEX ledger_entries_created_at ON ledger_entries (created_at, id);

CREATE TABLE inflows (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    supplier_id     INTEGER NOT NULL CONSTRAINT inflows_supplier_id_fkey REFERENCES suppliers (id),
    product_id      INTEGER NOT NULL CONSTRAINT inflows_product_id_fkey REFERENCES products (id),
    quantity        INTEGER NOT NULL CONSTRAINT inflows_quantity_check CHECK (quantity >= 1),
    description     TEXT,
    description_key TEXT,
    -- Copy of the product's folded title, for sorting. Updated with the title.
    -- Outflows have no such column, because booking a sale must be fast.
    title_folded    TEXT NOT NULL,
    -- Also the value of updated_at, because movements never change.
    created_at      INTEGER NOT NULL
) STRICT;
-- One index per sort field, which includes the supplier, as for products.
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
-- The outflows of a product with all sort columns. Its sales in a period are read from this index.
CREATE INDEX outflows_product_created_at ON outflows (product_id, created_at, id, quantity, description_key);

-- The response to a movement with an Idempotency-Key, in the same transaction. Kept for 72 hours.
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

-- Aggregates for lists and the dashboard: movements and sales by day, stock by category and brand.
-- A change inserts a delta in its transaction, so sales do not wait for a shared row. Deltas are
-- compacted into the aggregates later. Together they are exact at any time.

CREATE TABLE aggregate_deltas (
    id                 INTEGER PRIMARY KEY AUTOINCREMENT,
    -- Booked (1) or deleted (-1) movement of the day, with its prices. NULL and 0: no movement.
    movement           TEXT CONSTRAINT aggregate_deltas_movement_check CHECK (movement IN ('inflow', 'outflow')),
    supplier_id        INTEGER,
    day                INTEGER,
    movements          INTEGER NOT NULL,
    moved              INTEGER NOT NULL,
    moved_cost_price   TEXT NOT NULL CONSTRAINT aggregate_deltas_moved_cost_price_check CHECK (length(moved_cost_price) = 23),
    moved_selling_price TEXT NOT NULL CONSTRAINT aggregate_deltas_moved_selling_price_check CHECK (length(moved_selling_price) = 23),
    -- Units sold that day that are valued at the prices below from now on. Negative: no longer.
    present            INTEGER NOT NULL,
    -- The change of the stock of this category and brand.
    category_id        INTEGER NOT NULL,
    brand_id           INTEGER NOT NULL,
    products           INTEGER NOT NULL,
    units              INTEGER NOT NULL,
    cost_price         TEXT NOT NULL CONSTRAINT aggregate_deltas_cost_price_check CHECK (length(cost_price) = 23),
    selling_price      TEXT NOT NULL CONSTRAINT aggregate_deltas_selling_price_check CHECK (length(selling_price) = 23),
    -- The booked movement. NULL: none, or a deleted one.
    movement_id        INTEGER,
    -- 1: the product became low. -1: the product is no longer low.
    low                INTEGER NOT NULL DEFAULT 0
) STRICT;

-- Totals are decimal numbers in text columns, because they can exceed the range of numeric columns.
-- Amounts are in hundredths.
CREATE TABLE daily_aggregates (
    movement      TEXT    NOT NULL,
    -- 0: all suppliers.
    supplier_id   INTEGER NOT NULL,
    -- The start of the day in UTC.
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

-- The range of movement ids of each day. Ids usually ascend with time, but imports of old files
-- break this order. A list of some days that is not sorted by time reads only these ids.
CREATE TABLE daily_id_ranges (
    movement TEXT NOT NULL,
    -- The start of the day in UTC.
    day      INTEGER NOT NULL,
    -- All movements of the day are within these ids. The first and the last may have been deleted.
    first_id INTEGER NOT NULL,
    last_id  INTEGER NOT NULL,
    CONSTRAINT daily_id_ranges_pkey PRIMARY KEY (movement, day)
) STRICT, WITHOUT ROWID;

-- The number of low products, with the shop's threshold that it was counted for.
CREATE TABLE low_stock_aggregate (
    id        INTEGER PRIMARY KEY CONSTRAINT low_stock_aggregate_id_check CHECK (id = 1),
    threshold INTEGER NOT NULL,
    products  INTEGER NOT NULL
) STRICT;

-- The search index, and the version of counted product lists. The program updates both in the
-- transaction that changes the products.

-- The words of titles: at least 3 characters, split into overlapping parts of 96 characters.
CREATE TABLE search_words (
    id   INTEGER PRIMARY KEY AUTOINCREMENT,
    word TEXT NOT NULL CONSTRAINT search_words_word_key UNIQUE
) STRICT;
-- The suffixes of words, up to 24 characters. A text within a word is the start of a suffix.
CREATE TABLE search_endings (
    ending  TEXT    NOT NULL,
    word_id INTEGER NOT NULL,
    CONSTRAINT search_endings_pkey PRIMARY KEY (ending, word_id)
) STRICT, WITHOUT ROWID;
-- The products of each word in the order of titles, the default order. Columns for filters and
-- sorting are copied, so that matches are counted and sorted without reading products.
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

-- Incremented with each change of a product's own fields. The sum is the version of counted lists.
-- There are many rows, so that changes of different products do not wait for each other.
CREATE TABLE product_versions (
    shard   INTEGER PRIMARY KEY,
    version INTEGER NOT NULL
) STRICT;

-- Who changed which record, and when. Rows outlive records and users, so there are no foreign keys.
CREATE TABLE audit_entries (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    -- NULL: the program itself. The name is kept when the user is deleted.
    user_id     INTEGER,
    user_name   TEXT,
    action      TEXT    NOT NULL CONSTRAINT audit_entries_action_check CHECK (action IN ('added', 'changed', 'deleted', 'imported', 'asked', 'refused', 'canceled', 'refunded')),
    model       TEXT    NOT NULL,
    -- NULL: an import of many records, or a record of checkout, whose ids are not numbers.
    object_id   INTEGER,
    object_text TEXT    NOT NULL,
    -- The changed fields as JSON, with the values before and after unless these are confidential.
    changes     TEXT    NOT NULL,
    created_at  INTEGER NOT NULL
) STRICT;
CREATE INDEX audit_entries_created_at ON audit_entries (created_at, id);
CREATE INDEX audit_entries_user ON audit_entries (user_id, created_at, id);
CREATE INDEX audit_entries_action ON audit_entries (action, created_at, id);
CREATE INDEX audit_entries_model ON audit_entries (model, created_at, id);
CREATE INDEX audit_entries_object ON audit_entries (model, object_id, id);

-- Restock analyses: the queue, the results, and the supply assumptions of products.

-- One row per product with a waiting or running analysis: ten sales of a low product cause one.
CREATE TABLE analysis_requests (
    product_id   INTEGER PRIMARY KEY CONSTRAINT analysis_requests_product_id_fkey REFERENCES products (id) ON DELETE CASCADE,
    requested_at INTEGER NOT NULL,
    -- The earliest start. During a lease, its end, so that another worker can retry after a crash.
    due_at       INTEGER NOT NULL,
    -- Failed calls of the language model that may be retried.
    tries        INTEGER NOT NULL DEFAULT 0,
    -- The worker with the lease, beginning with the id of its replica. NULL: waiting.
    lease        TEXT,
    -- The user who requested the analysis. NULL: low stock requested it.
    asked_by     TEXT
) STRICT;
CREATE INDEX analysis_requests_due_at ON analysis_requests (due_at);

-- Results are kept when the product is deleted, so there is no foreign key.
CREATE TABLE analyses (
    id                 INTEGER PRIMARY KEY AUTOINCREMENT,
    -- NULL: an analysis of the whole shop.
    product_id         INTEGER,
    result             TEXT    NOT NULL,
    created_at         INTEGER NOT NULL,
    -- Provenance. The API does not return it.
    source             TEXT    NOT NULL CONSTRAINT analyses_source_check CHECK (source IN ('formula', 'model')),
    -- The result of the language model's part, or why it was skipped.
    outcome            TEXT    NOT NULL,
    language           TEXT    NOT NULL,
    model              TEXT,
    prompt_version     TEXT,
    -- SHA-256 of the input of the computation and of the prompt.
    inputs_digest      TEXT    NOT NULL,
    duration_ms        INTEGER NOT NULL,
    prompt_tokens      INTEGER,
    completion_tokens  INTEGER,
    finish_reason      TEXT,
    asked_by           TEXT,
    suggested_quantity INTEGER,
    -- The computed figures as JSON.
    figures            TEXT    NOT NULL
) STRICT;
CREATE INDEX analyses_product ON analyses (product_id, id);

-- The supply settings of a product. NULL: the default of the shop applies.
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

-- Calls of the language model, inserted before the call. The limits count them on all replicas.
CREATE TABLE model_calls (
    id                INTEGER PRIMARY KEY AUTOINCREMENT,
    called_at         INTEGER NOT NULL,
    outcome           TEXT    NOT NULL,
    duration_ms       INTEGER,
    prompt_tokens     INTEGER,
    completion_tokens INTEGER
) STRICT;
CREATE INDEX model_calls_called_at ON model_calls (called_at);
-- Replicas lock its only row while they count calls.
CREATE TABLE model_quota (
    id      INTEGER PRIMARY KEY CONSTRAINT model_quota_id_check CHECK (id = 1),
    counted INTEGER NOT NULL
) STRICT;
INSERT INTO model_quota (id, counted) VALUES (1, 0);

-- Scheduled reports, one row per period. The replica that holds the lease writes the report. NULL:
-- it is written.
CREATE TABLE report_runs (
    period TEXT NOT NULL CONSTRAINT report_runs_pkey PRIMARY KEY,
    lease  TEXT
) STRICT, WITHOUT ROWID;

-- Uploaded files and imports: checked first, then published or undone in short transactions.

CREATE TABLE imports (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    -- NULL: imported by the command line.
    user_id    INTEGER,
    user_name  TEXT    NOT NULL,
    -- Who confirmed or undid it last, which may be another user.
    actor_id   INTEGER,
    actor_name TEXT,
    resource   TEXT    NOT NULL,
    file_name  TEXT    NOT NULL,
    state      TEXT    NOT NULL CONSTRAINT imports_state_check
               CHECK (state IN ('checked', 'staging', 'publishing', 'withdrawing', 'discarding', 'done', 'undone')),
    -- 1 while a process works on it. Only one import runs at a time.
    under_way  INTEGER CONSTRAINT imports_under_way_key UNIQUE CONSTRAINT imports_under_way_check CHECK (under_way = 1),
    -- SHA-256 of the file of a command that has not told its end yet, as one that was killed.
    unreported TEXT,
    -- Why the import is withdrawn, in both languages. NULL: it continues as requested.
    problem    TEXT,
    -- Records that were, or would be, created.
    added      INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    -- Time of the latest start, and of the latest progress.
    began_at   INTEGER,
    progress_at INTEGER
) STRICT;
CREATE INDEX imports_user ON imports (user_id, id);

-- The file, until the import is complete. A separate table, because SQLite rewrites whole rows.
CREATE TABLE import_files (
    import_id INTEGER CONSTRAINT import_files_pkey PRIMARY KEY CONSTRAINT import_files_import_id_fkey REFERENCES imports (id) ON DELETE CASCADE,
    content   TEXT NOT NULL
) STRICT;

-- The ids that an import created, for undoing it.
CREATE TABLE import_records (
    import_id INTEGER NOT NULL CONSTRAINT import_records_import_id_fkey REFERENCES imports (id) ON DELETE CASCADE,
    object_id INTEGER NOT NULL,
    CONSTRAINT import_records_pkey PRIMARY KEY (import_id, object_id)
) STRICT, WITHOUT ROWID;

-- Categories and brands that an import creates by name: planned by the check, then created.
CREATE TABLE import_names (
    import_id INTEGER NOT NULL CONSTRAINT import_names_import_id_fkey REFERENCES imports (id) ON DELETE CASCADE,
    kind      TEXT NOT NULL,
    name      TEXT NOT NULL,
    -- The first row of the file that needs it.
    line      INTEGER NOT NULL,
    object_id INTEGER,
    CONSTRAINT import_names_pkey PRIMARY KEY (import_id, kind, name)
) STRICT, WITHOUT ROWID;

-- Rows of the file that are not imported yet, in JSON arrays of some hundreds.
CREATE TABLE import_chunks (
    import_id INTEGER NOT NULL CONSTRAINT import_chunks_import_id_fkey REFERENCES imports (id) ON DELETE CASCADE,
    number    INTEGER NOT NULL,
    rows      TEXT NOT NULL,
    CONSTRAINT import_chunks_pkey PRIMARY KEY (import_id, number)
) STRICT;

-- Records that such rows refer to. They cannot be deleted before the rows are imported.
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

-- Serie numbers of such rows, which no product may take meanwhile. Setting a product's number
-- also reserves it here until the end of the transaction, without an import. So both wait.
CREATE TABLE import_serie_numbers (
    serie_number TEXT NOT NULL CONSTRAINT import_serie_numbers_pkey PRIMARY KEY,
    import_id    INTEGER CONSTRAINT import_serie_numbers_import_id_fkey REFERENCES imports (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX import_serie_numbers_import ON import_serie_numbers (import_id);

-- Saved views: lists with filters and order, under a name that the user chose.
CREATE TABLE saved_views (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id     INTEGER NOT NULL CONSTRAINT saved_views_user_id_fkey REFERENCES users (id) ON DELETE CASCADE,
    name        TEXT NOT NULL,
    name_folded TEXT NOT NULL,
    address     TEXT NOT NULL,
    CONSTRAINT saved_views_user_id_name_folded_key UNIQUE (user_id, name_folded)
) STRICT;

-- Receipts of goods by a supplier's invoice, and stock counts: edited by line, booked at once.
-- A document is a draft until it is booked, and again after undoing. Drafts must not prevent
-- deleting a supplier or a product: there are no foreign keys, and ids are never reused.
CREATE TABLE stock_documents (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    kind        TEXT    NOT NULL CONSTRAINT stock_documents_kind_check CHECK (kind IN ('receipt', 'count')),
    -- The author, who alone sees the draft. NULL: the user was deleted, and everybody sees it.
    user_id     INTEGER CONSTRAINT stock_documents_user_id_fkey REFERENCES users (id) ON DELETE SET NULL,
    user_name   TEXT    NOT NULL,
    -- The supplier of a receipt.
    supplier_id INTEGER,
    -- The invoice number of a receipt, or empty. The subject of a count.
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
    -- The title at the time of adding, for display after the product was deleted.
    title       TEXT    NOT NULL,
    -- Units received or counted. NULL: not counted yet.
    quantity    INTEGER CONSTRAINT stock_document_lines_quantity_check CHECK (quantity >= 0),
    -- The stock when the quantity was entered. A count differs from it, whatever was sold since.
    expected    INTEGER,
    -- The booked inflow of a receipt.
    inflow_id   INTEGER,
    -- The product's cost price at the time of booking. NULL: not booked.
    cost_price  TEXT,
    CONSTRAINT stock_document_lines_product_key UNIQUE (document_id, product_id)
) STRICT;

-- Paid orders of a checkout. One row per order in any state, so that none is booked twice. There
-- are no foreign keys to outflows, because an outflow can be deleted while its order stays booked.
CREATE TABLE paid_orders (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    -- The id of the order at the checkout.
    order_id    TEXT    NOT NULL CONSTRAINT paid_orders_order_id_key UNIQUE,
    reference   TEXT,
    -- Waiting: not booked, a user must decide. By hand: a user booked the goods separately.
    state       TEXT    NOT NULL CONSTRAINT paid_orders_state_check CHECK (state IN ('waiting', 'booked', 'by_hand')),
    received_at INTEGER NOT NULL
) STRICT;
CREATE INDEX paid_orders_waiting ON paid_orders (id) WHERE state = 'waiting';

-- The units per serie number of an order.
CREATE TABLE paid_order_lines (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    paid_order_id INTEGER NOT NULL CONSTRAINT paid_order_lines_paid_order_id_fkey REFERENCES paid_orders (id) ON DELETE CASCADE,
    sku           TEXT    NOT NULL,
    -- The name of the product in the order.
    title         TEXT    NOT NULL,
    quantity      INTEGER NOT NULL CONSTRAINT paid_order_lines_quantity_check CHECK (quantity >= 1),
    -- The booked outflow.
    outflow_id    INTEGER,
    CONSTRAINT paid_order_lines_sku_key UNIQUE (paid_order_id, sku)
) STRICT;
CREATE INDEX paid_order_lines_outflow ON paid_order_lines (outflow_id);

-- The groups of the specification. Admin also manages accounts and reads the audit log.
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
