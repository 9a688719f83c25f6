-- By what came after the last occurrence only. A write by id resolves entries of that id, whatever their bodies said.
UPDATE refusal SET resolved_at = clock_timestamp(), resolution = done.resolution, sequence = nextval('refusal_change')
  FROM (
    SELECT DISTINCT ON (r.id) r.id, sent.resolution
      FROM jsonb_to_recordset(%(writes)s::jsonb) AS sent (
        client bigint, data_store bigint, subject uuid, at double precision, resolution text
      )
      JOIN refusal r ON r.client = sent.client AND r.data_store = sent.data_store
                    AND (r.subject = sent.subject OR r.document_uuid = sent.subject)
                    AND r.resolved_at IS NULL AND r.last_at < to_timestamp(sent.at)
     ORDER BY r.id, sent.at
  ) AS done
 WHERE refusal.id = done.id
