-- The inbox: what the provider told us, kept until the payment has been read back.
CREATE TABLE notifications (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    provider_payment_id TEXT NOT NULL,
    topic TEXT NOT NULL,
    action TEXT,
    request_id TEXT,
    signed INTEGER NOT NULL CHECK (signed IN (0, 1)),
    received_at INTEGER NOT NULL,
    outcome TEXT NOT NULL CHECK (outcome IN ('waiting', 'applied', 'foreign', 'ignored', 'given_up')),
    tries INTEGER NOT NULL,
    try_at INTEGER,
    done_at INTEGER
) STRICT;
CREATE INDEX notifications_try_at ON notifications (try_at, id) WHERE try_at IS NOT NULL;
CREATE INDEX notifications_waiting ON notifications (provider_payment_id, id) WHERE try_at IS NOT NULL;
CREATE INDEX notifications_received_at ON notifications (received_at);
