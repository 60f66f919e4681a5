-- The ledger of the whole shop by time: the administration narrows it to a year, a month or a day. Rows come in this order, so the index
-- grows at its end.
CREATE INDEX ledger_entries_created_at ON ledger_entries (created_at, id);
