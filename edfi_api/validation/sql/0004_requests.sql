-- Runs that clients requested. `ended_at` is NULL until one has been run, or cannot be run any more.
CREATE TABLE validation_request (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run_uuid uuid NOT NULL DEFAULT gen_random_uuid() UNIQUE,
    client bigint NOT NULL,
    requested_by text NOT NULL,
    rules text[] NOT NULL,
    categories text[] NOT NULL,
    organizations bigint[] NOT NULL CHECK (organizations <> '{}'),
    requested_at timestamptz NOT NULL DEFAULT now(),
    ended_at timestamptz
);

CREATE UNIQUE INDEX validation_request_open ON validation_request (client) WHERE ended_at IS NULL;
CREATE INDEX validation_request_client ON validation_request (client, requested_at);

COMMENT ON TABLE validation_request IS 'Runs of rules that API clients requested.';
COMMENT ON COLUMN validation_request.run_uuid IS 'The id that the run will have.';
COMMENT ON COLUMN validation_request.client IS 'Id of the API client, in the control database.';
COMMENT ON COLUMN validation_request.organizations IS 'Only violations in these organizations and below are compared.';
COMMENT ON INDEX validation_request_open IS 'A client has one open request; requests in the order of their ids.';
COMMENT ON INDEX validation_request_client IS 'The last request of a client.';
