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
    kind TEXT NOT NULL CHECK (kind IN ('reported', 'passed', 'exceptional', 'refused')),
    provider_status TEXT NOT NULL,
    status_detail TEXT NOT NULL,
    source TEXT NOT NULL,
    at INTEGER NOT NULL
) STRICT;
CREATE INDEX state_history_payment_id ON state_history (payment_id, id);

-- The intent to pay, stored before the provider is first called, with the keys of the calls to come.
-- idempotency_key is a keyed digest of the caller's key and of whose it is, here and in refunds.
CREATE TABLE attempts (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    reference TEXT NOT NULL,
    idempotency_key TEXT,
    fingerprint TEXT,
    step TEXT NOT NULL CHECK (step IN ('started', 'sending', 'finished', 'refused', 'closed')),
    method TEXT NOT NULL CHECK (method IN ('card', 'pix', 'boleto')),
    amount TEXT NOT NULL CHECK (length(amount) = 23),
    description TEXT NOT NULL,
    email TEXT,
    identification_type TEXT,
    identification_number TEXT,
    first_six_digits TEXT,
    last_four_digits TEXT,
    cardholder_name TEXT,
    installments INTEGER,
    token_key TEXT,
    create_key TEXT NOT NULL,
    card_token TEXT,
    lease TEXT,
    leased_until INTEGER,
    check_at INTEGER,
    checks INTEGER NOT NULL,
    sent_at INTEGER,
    response_status INTEGER,
    response TEXT,
    payment_id INTEGER REFERENCES payments (id),
    created_at INTEGER NOT NULL,
    finished_at INTEGER
) STRICT;
CREATE UNIQUE INDEX attempts_reference ON attempts (reference);
CREATE UNIQUE INDEX attempts_idempotency_key ON attempts (idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX attempts_check_at ON attempts (check_at, id) WHERE check_at IS NOT NULL;
CREATE INDEX attempts_payment_id ON attempts (payment_id) WHERE payment_id IS NOT NULL;
CREATE INDEX attempts_kept ON attempts (created_at) WHERE idempotency_key IS NOT NULL OR email IS NOT NULL;

-- Money given back, and money asked to be given back: the intent stands before the provider is called.
CREATE TABLE refunds (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    payment_id INTEGER NOT NULL REFERENCES payments (id),
    idempotency_key TEXT,
    fingerprint TEXT,
    upstream_key TEXT NOT NULL,
    whole INTEGER NOT NULL CHECK (whole IN (0, 1)),
    amount TEXT NOT NULL CHECK (length(amount) = 23),
    step TEXT NOT NULL CHECK (step IN ('started', 'sending', 'finished', 'refused', 'closed')),
    provider_id TEXT,
    status TEXT,
    date_created TEXT,
    lease TEXT,
    leased_until INTEGER,
    check_at INTEGER,
    checks INTEGER NOT NULL,
    response_status INTEGER,
    response TEXT,
    created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX refunds_idempotency_key ON refunds (payment_id, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX refunds_payment_id ON refunds (payment_id, id);
CREATE INDEX refunds_check_at ON refunds (check_at, id) WHERE check_at IS NOT NULL;
CREATE INDEX refunds_kept ON refunds (created_at) WHERE idempotency_key IS NOT NULL;

-- One row: proves that every replica works with the same secret. The secret itself is never here.
CREATE TABLE secret_check (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    digest TEXT NOT NULL
) STRICT;
