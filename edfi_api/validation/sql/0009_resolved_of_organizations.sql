CREATE INDEX validation_result_resolved_of_organization ON validation_result (organization, id) WHERE resolved_at IS NOT NULL;

COMMENT ON INDEX validation_result_resolved_of_organization IS
    'Resolved results of an organization: clients that read or follow their own.';
