-- Who changed which record, and when. A row outlives its record and its user, so nothing here refers to them.
CREATE TABLE audit_entries (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    -- NULL: the program itself. The name stays when the user is gone.
    user_id     INTEGER,
    user_name   TEXT,
    action      TEXT    NOT NULL CONSTRAINT audit_entries_action_check CHECK (action IN ('added', 'changed', 'deleted', 'imported')),
    model       TEXT    NOT NULL,
    -- NULL: many records at once, as an import brings them.
    object_id   INTEGER,
    object_text TEXT    NOT NULL,
    -- Names of the changed fields, parted by commas.
    fields      TEXT    NOT NULL,
    created_at  INTEGER NOT NULL
) STRICT;
CREATE INDEX audit_entries_created_at ON audit_entries (created_at, id);
CREATE INDEX audit_entries_user ON audit_entries (user_id, created_at, id);
CREATE INDEX audit_entries_action ON audit_entries (action, created_at, id);
CREATE INDEX audit_entries_model ON audit_entries (model, created_at, id);
CREATE INDEX audit_entries_object ON audit_entries (model, object_id, id);

-- Members of the Admin group administer accounts too; the log is theirs to read and nobody's to write.
INSERT INTO group_permissions (group_id, permission)
SELECT g.id, v.verb || '_' || m.model
FROM groups AS g
CROSS JOIN (SELECT 'add' AS verb UNION ALL SELECT 'change' UNION ALL SELECT 'delete' UNION ALL SELECT 'view') AS v
CROSS JOIN (SELECT 'user' AS model UNION ALL SELECT 'group') AS m
WHERE g.name = 'Admin';
INSERT INTO group_permissions (group_id, permission)
SELECT g.id, p.permission
FROM groups AS g
CROSS JOIN (SELECT 'view_audit_entry' AS permission UNION ALL SELECT 'view_session' UNION ALL SELECT 'delete_session'
            UNION ALL SELECT 'view_refresh_token' UNION ALL SELECT 'change_refresh_token') AS p
WHERE g.name = 'Admin';
