-- Clients repeat for weeks what they do not repair, so the open entries are the oldest of all.
CREATE INDEX refusal_open_page ON refusal (id) WHERE resolved_at IS NULL;

COMMENT ON INDEX refusal_open_page IS 'Pages of open entries, and their causes: the admin.';
