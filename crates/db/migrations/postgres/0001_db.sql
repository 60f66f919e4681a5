-- The same names as on SQLite, where sum() and * would go through a float. Nothing sums to 0, as there.
CREATE AGGREGATE money_sum(NUMERIC) (
    SFUNC = numeric_add, STYPE = NUMERIC, COMBINEFUNC = numeric_add, INITCOND = '0', PARALLEL = SAFE
);

CREATE FUNCTION money_times(amount NUMERIC, factor BIGINT) RETURNS NUMERIC
    LANGUAGE SQL IMMUTABLE STRICT PARALLEL SAFE
    RETURN amount * factor;

-- The processes that serve this database. One whose counter stands still is dead: the others remove its row,
-- and its leases end.
CREATE TABLE replicas (
    id         TEXT   NOT NULL PRIMARY KEY,
    heartbeats BIGINT NOT NULL
);
