-- Changes with which a handler failed, until it accepts them or a user discards them.
CREATE TABLE dead_letter (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    handler text NOT NULL,
    change_version bigint NOT NULL,
    resource text NOT NULL,
    natural_key text NOT NULL,
    change text NOT NULL,
    error text NOT NULL,
    attempts integer NOT NULL,
    failed_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (handler, change_version)
);
COMMENT ON TABLE dead_letter IS 'Changes with which a handler failed, to be delivered again.';
COMMENT ON COLUMN dead_letter.change IS 'The change as a line of JSON, since what it was read from may be purged.';
