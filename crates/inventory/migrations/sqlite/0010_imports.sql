-- Files that were brought through the pages: checked first, confirmed then, and taken back as a whole while nothing is in the way.

CREATE TABLE imports (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id    INTEGER NOT NULL,
    user_name  TEXT    NOT NULL,
    resource   TEXT    NOT NULL,
    file_name  TEXT    NOT NULL,
    -- Kept from the check to the confirmation only.
    content    TEXT,
    state      TEXT    NOT NULL CONSTRAINT imports_state_check CHECK (state IN ('checked', 'done', 'undone')),
    -- Records that were, or would be, added.
    added      INTEGER NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX imports_user ON imports (user_id, id);

-- What an import added, so that it can be taken back.
CREATE TABLE import_records (
    import_id INTEGER NOT NULL CONSTRAINT import_records_import_id_fkey REFERENCES imports (id) ON DELETE CASCADE,
    object_id INTEGER NOT NULL,
    CONSTRAINT import_records_pkey PRIMARY KEY (import_id, object_id)
) STRICT, WITHOUT ROWID;
