-- Rules of the host refuse writes, or warn of them. A warning is an entry whose status is that of the success.
ALTER TABLE refusal ADD COLUMN rules text[] NOT NULL DEFAULT '{}';
COMMENT ON COLUMN refusal.rules IS 'The rules of the host that refused it, or warned of it.';

CREATE INDEX refusal_rules ON refusal (id) WHERE rules <> '{}';
COMMENT ON INDEX refusal_rules IS 'What rules have found: the admin.';
