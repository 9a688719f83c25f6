-- How far consumers have received the events of results, in versions of results.
CREATE TABLE validation_consumer (
    name text PRIMARY KEY,
    validation_version bigint NOT NULL DEFAULT 0
);

CREATE INDEX validation_result_first_run ON validation_result (first_run);
CREATE INDEX validation_result_resolved_run ON validation_result (resolved_run) WHERE resolved_run IS NOT NULL;

COMMENT ON TABLE validation_consumer IS 'Up to which version each consumer has received the events of results.';
COMMENT ON INDEX validation_result_first_run IS 'Results that appeared in a run: its counts.';
COMMENT ON INDEX validation_result_resolved_run IS 'Results that a run resolved: its counts.';
