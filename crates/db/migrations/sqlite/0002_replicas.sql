-- The processes that serve this database. One whose heartbeats stand still is dead: the others remove its row, and its leases end.
CREATE TABLE replicas (
    id         TEXT    NOT NULL PRIMARY KEY,
    heartbeats INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
