-- The second factor of a login, how long a session is kept, and the moment from which a user's tokens count.

-- Tokens made before this second are revoked, all at once. NULL: none are.
ALTER TABLE users ADD COLUMN tokens_valid_from INTEGER;

-- Whether the reader asked to stay logged in: two weeks instead of a working day.
ALTER TABLE sessions ADD COLUMN remembered INTEGER NOT NULL DEFAULT 1
    CONSTRAINT sessions_remembered_check CHECK (remembered IN (0, 1));

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
