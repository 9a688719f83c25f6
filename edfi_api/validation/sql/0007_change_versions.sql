-- Results take their versions from the sequence of documents, so that clients of `/data/ed-fi-x-validations` follow them by
-- the versions that `changeQueries/v1/availableChangeVersions` answers, as they do documents. Earlier results keep their
-- versions, and the sequence continues above these: clients of `/validation/v1` and consumers keep their positions.
ALTER TABLE validation_result ALTER validation_version SET DEFAULT next_change_version();

DO $$
DECLARE
    newest bigint := coalesce(pg_sequence_last_value('validation_version'), 0);
BEGIN
    IF newest > coalesce(pg_sequence_last_value('change_version'), 0) THEN
        -- Changes nothing, and lets nobody take a number before the commit.
        ALTER SEQUENCE change_version INCREMENT 2;
        PERFORM setval('change_version', greatest(pg_sequence_last_value('change_version'), newest + newest % 2));
    END IF;
END
$$;

DROP SEQUENCE validation_version;

COMMENT ON COLUMN validation_result.validation_version IS
    'Moves whenever a result appears, changes or is resolved; from the sequence of the versions of documents.';
