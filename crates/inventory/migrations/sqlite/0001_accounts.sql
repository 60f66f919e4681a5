-- Who may do what. Names are compared as written: `Ana` and `ana` are two users.
CREATE TABLE users (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    username      TEXT    NOT NULL CONSTRAINT users_username_key UNIQUE,
    email         TEXT    NOT NULL,
    first_name    TEXT    NOT NULL,
    last_name     TEXT    NOT NULL,
    -- Argon2id in PHC form; NULL is an account that no password opens.
    password_hash TEXT,
    active        INTEGER NOT NULL CONSTRAINT users_active_check CHECK (active IN (0, 1)),
    staff         INTEGER NOT NULL CONSTRAINT users_staff_check CHECK (staff IN (0, 1)),
    superuser     INTEGER NOT NULL CONSTRAINT users_superuser_check CHECK (superuser IN (0, 1)),
    last_login    INTEGER,
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL
) STRICT;

CREATE TABLE groups (
    id   INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL CONSTRAINT groups_name_key UNIQUE
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
    expires_at   INTEGER NOT NULL
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

INSERT INTO groups (name) VALUES ('Admin'), ('Managers');
INSERT INTO group_permissions (group_id, permission)
SELECT g.id, v.verb || '_' || m.model
FROM groups AS g
CROSS JOIN (SELECT 'add' AS verb UNION ALL SELECT 'change' UNION ALL SELECT 'delete' UNION ALL SELECT 'view') AS v
CROSS JOIN (SELECT 'brand' AS model UNION ALL SELECT 'category' UNION ALL SELECT 'supplier' UNION ALL SELECT 'product'
            UNION ALL SELECT 'inflow' UNION ALL SELECT 'outflow') AS m
WHERE g.name = 'Admin' OR (g.name = 'Managers' AND v.verb <> 'delete');
