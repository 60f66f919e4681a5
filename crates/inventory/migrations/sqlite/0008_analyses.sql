-- Restock analyses: what waits to be analysed, what came of it, and what the shop assumes of its suppliers.

-- One row a product while its analysis waits or runs: ten sales of a product that is low are one analysis.
CREATE TABLE analysis_requests (
    product_id   INTEGER PRIMARY KEY CONSTRAINT analysis_requests_product_id_fkey REFERENCES products (id) ON DELETE CASCADE,
    requested_at INTEGER NOT NULL,
    -- Not before then. A worker that takes the row moves it to where its lease ends, so that a row outlives its worker.
    due_at       INTEGER NOT NULL,
    -- Calls of the language model that failed so far and may be repeated.
    tries        INTEGER NOT NULL DEFAULT 0,
    -- Who holds it; NULL while it waits.
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

INSERT INTO group_permissions (group_id, permission)
SELECT g.id, v.verb || '_analysis'
FROM groups AS g
CROSS JOIN (SELECT 'add' AS verb UNION ALL SELECT 'change' UNION ALL SELECT 'delete' UNION ALL SELECT 'view') AS v
WHERE g.name = 'Admin' OR (g.name = 'Managers' AND v.verb <> 'delete');

-- Requests that were written as events before there was anybody to read them.
INSERT INTO analysis_requests (product_id, requested_at, due_at)
SELECT e.product_id, max(e.created_at), max(e.created_at) FROM events AS e
JOIN products AS p ON p.id = e.product_id
WHERE e.type = 'analysis.requested' GROUP BY e.product_id;
DELETE FROM events WHERE type = 'analysis.requested';
