CREATE INDEX refusal_open_sequence ON refusal (client, sequence) WHERE resolved_at IS NULL;
CREATE INDEX refusal_natural_key ON refusal (client, natural_key) WHERE natural_key IS NOT NULL;
CREATE INDEX refusal_cause ON refusal (client, cause, sequence);

COMMENT ON INDEX refusal_open_sequence IS 'Open entries of a client among many resolved ones, and their number: /submissions/v1.';
COMMENT ON INDEX refusal_natural_key IS 'Entries of a client about a document: /submissions/v1.';
COMMENT ON INDEX refusal_cause IS 'Entries of a client with one cause: /submissions/v1.';
