-- In the order of the keys, so that concurrent writers wait for each other instead of deadlocking.
INSERT INTO refusal AS kept (
    id, client, data_store, resource, subject, has_identity, natural_key, document_uuid, organization, operation,
    is_batch, is_summary, status, problem, title, paths, errors, cause, cause_text, awaited_resource, awaited,
    correlation_id, first_at, last_at, count, direction, rules, hints, sequence
)
SELECT id, client, data_store, resource, subject, has_identity, natural_key, document_uuid, organization, operation,
       is_batch, is_summary, status, problem, title, paths, errors, cause, cause_text, awaited_resource, awaited,
       correlation_id, to_timestamp(first_at), to_timestamp(last_at), count, direction, rules,
       hints, nextval('refusal_change')
  FROM json_to_recordset(%(entries)s::json) AS sent (
    id uuid, client bigint, data_store bigint, resource text, subject uuid, has_identity boolean, natural_key text,
    document_uuid uuid, organization bigint, operation text, is_batch boolean, is_summary boolean, status smallint,
    problem text, title text, paths jsonb, errors jsonb, cause uuid, cause_text text, awaited_resource text,
    awaited uuid, correlation_id text, first_at double precision, last_at double precision, count bigint,
    direction text, rules text[], hints jsonb
  )
 ORDER BY client, subject, problem, data_store, resource, direction
ON CONFLICT (client, subject, problem, data_store, resource, direction) WHERE resolved_at IS NULL
DO UPDATE SET
    operation = excluded.operation, is_batch = excluded.is_batch, status = excluded.status, title = excluded.title,
    paths = excluded.paths, errors = excluded.errors, correlation_id = excluded.correlation_id,
    organization = excluded.organization, document_uuid = excluded.document_uuid, cause = excluded.cause,
    cause_text = excluded.cause_text, awaited_resource = excluded.awaited_resource, awaited = excluded.awaited,
    cause_gone = false, last_at = greatest(kept.last_at, excluded.last_at), count = kept.count + excluded.count,
    rules = excluded.rules,
    -- Not every operation of a batch gets hints.
    hints = CASE WHEN excluded.hints = '[]' AND excluded.cause = kept.cause THEN kept.hints ELSE excluded.hints END,
    sequence = excluded.sequence
