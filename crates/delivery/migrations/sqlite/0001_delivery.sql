-- Events that others are told of, how they reach their receivers, and the mail that goes out. Services that share a database share these
-- tables; a row is of the service that wrote it.

-- The outbox: written with the change that an event reports, read by the workers that deliver.
CREATE TABLE events (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    service    TEXT    NOT NULL,
    type       TEXT    NOT NULL,
    -- What the event is about, by a number of the service's own. Events of one subject are delivered in their order.
    subject_id INTEGER NOT NULL,
    payload    TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    -- Whether the event's deliveries have been made.
    fanned_out INTEGER NOT NULL DEFAULT FALSE CONSTRAINT events_fanned_out_check CHECK (fanned_out IN (0, 1))
) STRICT;
CREATE INDEX events_not_fanned_out ON events (service, id) WHERE fanned_out = FALSE;

-- One row a service, written by whoever makes deliveries: one process at a time.
CREATE TABLE delivery_turns (
    service TEXT    NOT NULL PRIMARY KEY,
    turns   INTEGER NOT NULL
) STRICT;

CREATE TABLE webhook_endpoints (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    service         TEXT    NOT NULL,
    -- Which one of the configuration it is, whose secret is there and not here; NULL for those that people add.
    configured      TEXT    CONSTRAINT webhook_endpoints_configured_check CHECK (configured IN ('settings', 'internal')),
    url             TEXT    NOT NULL,
    description     TEXT    NOT NULL,
    description_folded TEXT NOT NULL,
    -- Types of events by comma; all of them when it is empty.
    types           TEXT    NOT NULL,
    enabled         INTEGER NOT NULL CONSTRAINT webhook_endpoints_enabled_check CHECK (enabled IN (0, 1)),
    disabled_reason TEXT    CONSTRAINT webhook_endpoints_disabled_reason_check
                    CHECK (disabled_reason IN ('person', 'gone', 'failing', 'configuration')),
    disabled_at     INTEGER,
    -- Since when every attempt has failed, and until when the receiver asked us to wait.
    failing_since   INTEGER,
    paused_until    INTEGER,
    state           TEXT    NOT NULL GENERATED ALWAYS AS (CASE WHEN enabled = FALSE THEN COALESCE(disabled_reason, 'person')
                    WHEN failing_since IS NULL THEN 'working' ELSE 'retrying' END) STORED,
    secret          TEXT,
    previous_secret TEXT,
    previous_until  INTEGER,
    -- The replica that delivers here; only while it is registered.
    leased_by       TEXT,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX webhook_endpoints_configured ON webhook_endpoints (service, configured) WHERE configured IS NOT NULL;

-- One event for one endpoint. A waiting one without due_at stands behind an earlier one of the same subject.
CREATE TABLE deliveries (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    event_id     INTEGER NOT NULL CONSTRAINT deliveries_event_id_fkey REFERENCES events (id) ON DELETE CASCADE,
    endpoint_id  INTEGER NOT NULL CONSTRAINT deliveries_endpoint_id_fkey REFERENCES webhook_endpoints (id) ON DELETE CASCADE,
    subject_id   INTEGER NOT NULL,
    state        TEXT    NOT NULL CONSTRAINT deliveries_state_check CHECK (state IN ('waiting', 'delivered', 'failed')),
    attempts     INTEGER NOT NULL,
    due_at       INTEGER,
    last_outcome TEXT,
    last_status  INTEGER,
    created_at   INTEGER NOT NULL,
    finished_at  INTEGER
) STRICT;
CREATE UNIQUE INDEX deliveries_event_endpoint ON deliveries (event_id, endpoint_id);
CREATE INDEX deliveries_due ON deliveries (endpoint_id, due_at, id) WHERE state = 'waiting';
CREATE INDEX deliveries_line ON deliveries (endpoint_id, subject_id, id) WHERE state = 'waiting';
CREATE INDEX deliveries_failed ON deliveries (endpoint_id, id) WHERE state = 'failed';
CREATE INDEX deliveries_endpoint ON deliveries (endpoint_id, id);

CREATE TABLE delivery_attempts (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    delivery_id INTEGER NOT NULL CONSTRAINT delivery_attempts_delivery_id_fkey REFERENCES deliveries (id) ON DELETE CASCADE,
    started_at  INTEGER NOT NULL,
    duration_ms INTEGER NOT NULL,
    outcome     TEXT    NOT NULL,
    status      INTEGER,
    -- The first KiB of the answer, or why there is none.
    detail      TEXT    NOT NULL
) STRICT;
CREATE INDEX delivery_attempts_delivery ON delivery_attempts (delivery_id, id);

-- Mail that waits, and mail that went. The key makes one mail of what is asked for twice.
CREATE TABLE mails (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    service    TEXT    NOT NULL,
    key        TEXT    NOT NULL,
    kind       TEXT    NOT NULL,
    recipient  TEXT    NOT NULL,
    subject    TEXT    NOT NULL,
    plain      TEXT    NOT NULL,
    html       TEXT    NOT NULL,
    state      TEXT    NOT NULL CONSTRAINT mails_state_check CHECK (state IN ('waiting', 'sent', 'failed')),
    attempts   INTEGER NOT NULL,
    due_at     INTEGER,
    last_error TEXT,
    created_at INTEGER NOT NULL,
    sent_at    INTEGER,
    CONSTRAINT mails_key_key UNIQUE (service, key)
) STRICT;
CREATE INDEX mails_due ON mails (service, due_at, id) WHERE state = 'waiting';
CREATE INDEX mails_created_at ON mails (service, created_at, id);
