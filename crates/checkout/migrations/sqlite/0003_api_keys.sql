-- Keys of merchants' servers: the SHA-256 of a random key, and its first characters to know it by.
CREATE TABLE api_keys (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    prefix TEXT NOT NULL,
    digest TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    revoked_at INTEGER
) STRICT;
CREATE UNIQUE INDEX api_keys_digest ON api_keys (digest);
CREATE UNIQUE INDEX api_keys_prefix ON api_keys (prefix);
