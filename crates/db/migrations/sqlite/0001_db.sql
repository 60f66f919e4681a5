-- money_sum(amount) and money_times(amount, factor) are functions that the program gives to each connection.

-- The processes that serve this database. One whose counter stands still is dead: the others remove its row,
-- and its leases end.
CREATE TABLE replicas (
    id         TEXT    NOT NULL PRIMARY KEY,
    heartbeats INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
