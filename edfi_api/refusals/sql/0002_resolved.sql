CREATE INDEX refusal_resolved ON refusal (client, resolved_at) WHERE resolved_at IS NOT NULL;
COMMENT ON INDEX refusal_resolved IS 'What was resolved lately: the summary of a client.';
