-- Where a day's movements lie among the ids. Ids follow time wherever nobody imports an old file, and nothing promises that they do: so
-- what is known of each day is kept, and a list of some days in another order than by time begins where they begin.

CREATE TABLE day_spans (
    movement TEXT        NOT NULL,
    -- Its first moment, in UTC.
    day      TIMESTAMPTZ NOT NULL,
    -- None of the day is outside; what was deleted since may have been the first or the last.
    first_id BIGINT      NOT NULL,
    last_id  BIGINT      NOT NULL,
    CONSTRAINT day_spans_pkey PRIMARY KEY (movement, day)
);
INSERT INTO day_spans (movement, day, first_id, last_id)
SELECT 'inflow', date_trunc('day', created_at AT TIME ZONE 'UTC') AT TIME ZONE 'UTC', min(id), max(id) FROM inflows GROUP BY 2;
INSERT INTO day_spans (movement, day, first_id, last_id)
SELECT 'outflow', date_trunc('day', created_at AT TIME ZONE 'UTC') AT TIME ZONE 'UTC', min(id), max(id) FROM outflows GROUP BY 2;

-- The movement that was booked. NULL, of an earlier version of the program: it may be anywhere.
ALTER TABLE tally_changes ADD COLUMN movement_id BIGINT;
-- What is noted by now is counted above.
UPDATE tally_changes SET movement_id = (SELECT s.last_id FROM day_spans AS s WHERE s.movement = tally_changes.movement AND s.day = tally_changes.day);
