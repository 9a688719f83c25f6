-- The hints of the answers, by which a vendor knows what to do.
ALTER TABLE refusal ADD COLUMN hints jsonb NOT NULL DEFAULT '[]';
COMMENT ON COLUMN refusal.hints IS 'The hints of the answer, without values that were sent.';
