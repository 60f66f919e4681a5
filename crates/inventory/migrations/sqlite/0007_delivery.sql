-- How events reach their receivers: whom to tell, what each was told and when, and the mail that goes out.

-- Whether the event's deliveries have been made. What is older than deliveries themselves has none.
ALTER TABLE events ADD COLUMN fanned_out INTEGER NOT NULL DEFAULT FALSE
    CONSTRAINT events_fanned_out_check CHECK (fanned_out IN (0, 1));
UPDATE events SET fanned_out = TRUE;
CREATE INDEX events_not_fanned_out ON events (id) WHERE fanned_out = FALSE;

-- One row, written by whoever makes deliveries: one process at a time.
CREATE TABLE delivery_turns (
    id    INTEGER PRIMARY KEY AUTOINCREMENT CONSTRAINT delivery_turns_id_check CHECK (id = 1),
    turns INTEGER NOT NULL
) STRICT;
INSERT INTO delivery_turns (id, turns) VALUES (1, 0);

CREATE TABLE webhook_endpoints (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    -- The one of the configuration, whose secret is there and not here.
    configured      INTEGER NOT NULL CONSTRAINT webhook_endpoints_configured_check CHECK (configured IN (0, 1)),
    url             TEXT    NOT NULL,
    description     TEXT    NOT NULL,
    -- Types of events by comma; all of them when it is empty.
    types           TEXT    NOT NULL,
    enabled         INTEGER NOT NULL CONSTRAINT webhook_endpoints_enabled_check CHECK (enabled IN (0, 1)),
    disabled_reason TEXT    CONSTRAINT webhook_endpoints_disabled_reason_check
                    CHECK (disabled_reason IN ('person', 'gone', 'failing', 'configuration')),
    disabled_at     INTEGER,
    -- Since when every attempt has failed, and until when the receiver asked us to wait.
    failing_since   INTEGER,
    paused_until    INTEGER,
    secret          TEXT,
    previous_secret TEXT,
    previous_until  INTEGER,
    -- The process that delivers here, and until when.
    leased_by       TEXT,
    leased_until    INTEGER,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX webhook_endpoints_configured ON webhook_endpoints (configured) WHERE configured = TRUE;

-- One event for one endpoint. A waiting one without due_at stands behind an earlier one of the same product.
CREATE TABLE deliveries (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    event_id     INTEGER NOT NULL CONSTRAINT deliveries_event_id_fkey REFERENCES events (id) ON DELETE CASCADE,
    endpoint_id  INTEGER NOT NULL CONSTRAINT deliveries_endpoint_id_fkey REFERENCES webhook_endpoints (id) ON DELETE CASCADE,
    product_id   INTEGER NOT NULL,
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
CREATE INDEX deliveries_line ON deliveries (endpoint_id, product_id, id) WHERE state = 'waiting';
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
    key        TEXT    NOT NULL CONSTRAINT mails_key_key UNIQUE,
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
    sent_at    INTEGER
) STRICT;
CREATE INDEX mails_due ON mails (due_at, id) WHERE state = 'waiting';
CREATE INDEX mails_created_at ON mails (created_at, id);

INSERT INTO group_permissions (group_id, permission)
SELECT g.id, p.permission
FROM groups AS g
CROSS JOIN (SELECT 'Admin' AS holder, 'add_webhook_endpoint' AS permission
            UNION ALL SELECT 'Admin', 'change_webhook_endpoint'
            UNION ALL SELECT 'Admin', 'delete_webhook_endpoint'
            UNION ALL SELECT 'Admin', 'view_webhook_endpoint'
            UNION ALL SELECT 'Admin', 'change_delivery'
            UNION ALL SELECT 'Admin', 'view_delivery'
            UNION ALL SELECT 'Managers', 'view_webhook_endpoint'
            UNION ALL SELECT 'Managers', 'change_delivery'
            UNION ALL SELECT 'Managers', 'view_delivery') AS p
WHERE g.name = p.holder;
