-- One payment at the provider. Everything here is the provider's word, save for our own reference and bookkeeping.
CREATE TABLE payments (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    provider_id TEXT NOT NULL,
    reference TEXT NOT NULL,
    method TEXT NOT NULL CHECK (method IN ('card', 'pix', 'boleto')),
    provider_method TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('pending', 'approved', 'rejected', 'in_process', 'cancelled', 'refunded', 'charged_back')),
    status_detail TEXT NOT NULL,
    amount TEXT NOT NULL CHECK (length(amount) = 23),
    refunded TEXT NOT NULL CHECK (length(refunded) = 23),
    description TEXT NOT NULL,
    date_created TEXT NOT NULL,
    date_approved TEXT,
    version INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    changed_at INTEGER NOT NULL,
    check_at INTEGER,
    checks INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX payments_provider_id ON payments (provider_id);
CREATE UNIQUE INDEX payments_reference ON payments (reference);
CREATE INDEX payments_created ON payments (created_at, id);
CREATE INDEX payments_state_created ON payments (state, created_at, id);
CREATE INDEX payments_method_created ON payments (method, created_at, id);
CREATE INDEX payments_check_at ON payments (check_at, id) WHERE check_at IS NOT NULL;

-- Who pays: only what the answers show.
CREATE TABLE payers (
    payment_id INTEGER PRIMARY KEY REFERENCES payments (id),
    email TEXT NOT NULL,
    identification_type TEXT NOT NULL,
    identification_number TEXT NOT NULL
) STRICT;

-- What is paid with. Never the card's number, security code or expiry.
CREATE TABLE payment_methods (
    payment_id INTEGER PRIMARY KEY REFERENCES payments (id),
    type TEXT NOT NULL CHECK (type IN ('card', 'pix', 'boleto')),
    first_six_digits TEXT,
    last_four_digits TEXT,
    cardholder_name TEXT,
    installments INTEGER
) STRICT;

-- What the provider gave the payer to pay with.
CREATE TABLE transactions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    payment_id INTEGER NOT NULL REFERENCES payments (id),
    external_resource_url TEXT,
    qr_code TEXT,
    qr_code_base64 TEXT,
    ticket_url TEXT,
    digitable_line TEXT,
    barcode TEXT,
    date_of_expiration TEXT
) STRICT;
CREATE UNIQUE INDEX transactions_payment_id ON transactions (payment_id);

-- Every step of a payment's state, and every word of the provider that was refused.
CREATE TABLE state_history (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    payment_id INTEGER NOT NULL REFERENCES payments (id),
    from_state TEXT,
    to_state TEXT,
    kind TEXT NOT NULL CHECK (kind IN ('reported', 'passed', 'exceptional', 'refused', 'corrected')),
    provider_status TEXT NOT NULL,
    status_detail TEXT NOT NULL,
    source TEXT NOT NULL,
    at INTEGER NOT NULL
) STRICT;
CREATE INDEX state_history_payment_id ON state_history (payment_id, id);

-- What a shop asks to be paid. Its sum, items and terms never change. `items`, `customer` and `metadata` are JSON, as answers show them.
CREATE TABLE orders (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    public_id TEXT NOT NULL,
    -- The digest of the token in its page's address.
    token_digest TEXT NOT NULL,
    key_digest TEXT,
    fingerprint TEXT,
    reference TEXT,
    status TEXT NOT NULL CHECK (status IN ('open', 'paid', 'canceled', 'expired')),
    amount TEXT NOT NULL CHECK (length(amount) = 23),
    description TEXT NOT NULL,
    items TEXT NOT NULL,
    payment_methods TEXT NOT NULL,
    max_installments INTEGER,
    customer TEXT,
    success_url TEXT,
    cancel_url TEXT,
    metadata TEXT NOT NULL,
    expires_at INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    paid_at INTEGER,
    -- The payment that paid it, and whether the order's time was over by then.
    paid_by INTEGER REFERENCES payments (id),
    is_late INTEGER NOT NULL CHECK (is_late IN (0, 1)),
    -- When the order is due for the worker: at its end, and while a payment is still to be cancelled at the provider.
    due_at INTEGER
) STRICT;
CREATE UNIQUE INDEX orders_public_id ON orders (public_id);
CREATE UNIQUE INDEX orders_token_digest ON orders (token_digest);
CREATE UNIQUE INDEX orders_key_digest ON orders (key_digest) WHERE key_digest IS NOT NULL;
CREATE INDEX orders_keys_kept ON orders (created_at) WHERE key_digest IS NOT NULL;
CREATE UNIQUE INDEX orders_reference ON orders (reference) WHERE reference IS NOT NULL;
CREATE INDEX orders_created ON orders (created_at, id);
CREATE INDEX orders_status_created ON orders (status, created_at, id);
CREATE INDEX orders_due ON orders (due_at, id) WHERE due_at IS NOT NULL;

-- Approvals that paid for nothing: of an order that was paid already or canceled, or of a payment that stands as cancelled.
CREATE TABLE overpayments (
    payment_id INTEGER PRIMARY KEY REFERENCES payments (id),
    order_id INTEGER NOT NULL REFERENCES orders (id),
    created_at INTEGER NOT NULL,
    -- When it is given back, if that is not left to the shop and is not done.
    refund_at INTEGER
) STRICT;
CREATE INDEX overpayments_refund_at ON overpayments (refund_at, payment_id) WHERE refund_at IS NOT NULL;

-- One payment or one refund that was asked for. The intent is stored before the provider is first called, with the keys of the calls to
-- come and every setting that enters them: what is sent again is what was sent.
CREATE TABLE attempts (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL CHECK (kind IN ('payment', 'refund')),
    -- A keyed digest of the caller's key, of whose it is and of what it was used for.
    key_digest TEXT,
    fingerprint TEXT,
    step TEXT NOT NULL CHECK (step IN ('started', 'sending', 'finished', 'refused', 'closed')),
    amount TEXT NOT NULL CHECK (length(amount) = 23),
    upstream_key TEXT NOT NULL,
    -- The payment that was made, or the one that the refund is of.
    payment_id INTEGER REFERENCES payments (id),
    -- Of a payment only.
    order_id INTEGER REFERENCES orders (id),
    reference TEXT,
    method TEXT CHECK (method IN ('card', 'pix', 'boleto')),
    description TEXT,
    -- Of the page that it was asked for on: receipts are written in it.
    language TEXT CHECK (language IN ('pt-BR', 'en')),
    email TEXT,
    identification_type TEXT,
    identification_number TEXT,
    first_six_digits TEXT,
    last_four_digits TEXT,
    cardholder_name TEXT,
    installments INTEGER,
    notification_url TEXT,
    boleto_method TEXT,
    date_of_expiration INTEGER,
    token_key TEXT,
    card_token TEXT,
    -- Of a refund only.
    refund_id TEXT,
    refund_status TEXT,
    refund_date TEXT,
    -- Who works on it, when the provider is asked about it, and what the provider said last.
    lease TEXT,
    leased_until INTEGER,
    check_at INTEGER,
    checks INTEGER NOT NULL,
    sent_at INTEGER,
    last_answer TEXT,
    response_status INTEGER,
    response TEXT,
    created_at INTEGER NOT NULL,
    finished_at INTEGER
) STRICT;
CREATE UNIQUE INDEX attempts_reference ON attempts (reference);
CREATE UNIQUE INDEX attempts_key_digest ON attempts (key_digest) WHERE key_digest IS NOT NULL;
CREATE INDEX attempts_check_at ON attempts (check_at, id) WHERE check_at IS NOT NULL;
CREATE INDEX attempts_payment_id ON attempts (payment_id, id) WHERE payment_id IS NOT NULL;
CREATE INDEX attempts_order_id ON attempts (order_id, id) WHERE order_id IS NOT NULL;
CREATE INDEX attempts_kept ON attempts (created_at)
    WHERE (key_digest IS NOT NULL AND step <> 'sending') OR email IS NOT NULL OR card_token IS NOT NULL;

-- One row: how far the provider's payments have been searched for changes that nobody told us of.
CREATE TABLE sweeps (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    swept_until INTEGER NOT NULL,
    page_offset INTEGER NOT NULL,
    sweep_at INTEGER NOT NULL
) STRICT;

-- One row: proves that every replica works with the same secret. The secret itself is never here.
CREATE TABLE secret_check (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    digest TEXT NOT NULL
) STRICT;

-- The inbox: what the provider told us, kept until the payment has been read back.
CREATE TABLE notifications (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    provider_payment_id TEXT NOT NULL,
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

-- How many payments and orders were made on each day in UTC (days since 1970), by what their lists can be narrowed to. An order has no method.
CREATE TABLE day_counts (
    list TEXT NOT NULL CHECK (list IN ('payments', 'orders')),
    day INTEGER NOT NULL,
    status TEXT NOT NULL,
    method TEXT NOT NULL,
    counted INTEGER NOT NULL,
    PRIMARY KEY (list, day, status, method)
) STRICT;

-- Changes that are not added to them yet: a counter that every payment raised would be a row that every payment waits for.
CREATE TABLE day_count_changes (
    id INTEGER PRIMARY KEY,
    list TEXT NOT NULL,
    day INTEGER NOT NULL,
    status TEXT NOT NULL,
    method TEXT NOT NULL,
    counted INTEGER NOT NULL
) STRICT;

CREATE TRIGGER payments_made AFTER INSERT ON payments BEGIN
    INSERT INTO day_count_changes (list, day, status, method, counted) VALUES
        ('payments', NEW.created_at / 86400000000, NEW.state, NEW.method, 1);
END;
CREATE TRIGGER payments_changed AFTER UPDATE OF state ON payments WHEN OLD.state <> NEW.state BEGIN
    INSERT INTO day_count_changes (list, day, status, method, counted) VALUES
        ('payments', OLD.created_at / 86400000000, OLD.state, OLD.method, -1),
        ('payments', NEW.created_at / 86400000000, NEW.state, NEW.method, 1);
END;
CREATE TRIGGER orders_made AFTER INSERT ON orders BEGIN
    INSERT INTO day_count_changes (list, day, status, method, counted) VALUES
        ('orders', NEW.created_at / 86400000000, NEW.status, '', 1);
END;
CREATE TRIGGER orders_changed AFTER UPDATE OF status ON orders WHEN OLD.status <> NEW.status BEGIN
    INSERT INTO day_count_changes (list, day, status, method, counted) VALUES
        ('orders', OLD.created_at / 86400000000, OLD.status, '', -1),
        ('orders', NEW.created_at / 86400000000, NEW.status, '', 1);
END;
