-- By what came after the last occurrence only: by time, or as a later operation of the batch that it was in. A write by
-- id resolves entries of that id, whatever their bodies said. One of which rules warn again keeps the entry of the warning.
-- Two joins by equality: for one with OR, PostgreSQL may compare each write with each open entry of the client.
WITH sent AS MATERIALIZED (
    SELECT client, data_store, direction, subject, to_timestamp(at) AS at, resolution, batch, keeps
      FROM jsonb_to_recordset(%(writes)s::jsonb) AS sent (
        client bigint, data_store bigint, direction text, subject uuid, at double precision, resolution text,
        batch text, keeps text
      )
), found AS (
    SELECT r.id, sent.at, sent.resolution
      FROM sent JOIN refusal r USING (client, data_store, direction, subject)
     WHERE r.resolved_at IS NULL AND r.problem IS DISTINCT FROM sent.keeps
       AND (r.last_at < sent.at OR (r.is_batch AND r.correlation_id = sent.batch))
    UNION ALL
    SELECT r.id, sent.at, sent.resolution
      FROM sent JOIN refusal r ON (r.client, r.data_store, r.direction, r.document_uuid)
                              = (sent.client, sent.data_store, sent.direction, sent.subject)
     WHERE r.resolved_at IS NULL AND r.problem IS DISTINCT FROM sent.keeps
       AND (r.last_at < sent.at OR (r.is_batch AND r.correlation_id = sent.batch))
)
UPDATE refusal SET resolved_at = clock_timestamp(), resolution = done.resolution, sequence = nextval('refusal_change')
  FROM (SELECT DISTINCT ON (id) id, resolution FROM found ORDER BY id, at) AS done
 WHERE refusal.id = done.id
