-- While documents there that it has replaced are still to be deleted, a document that was refused stays so.
UPDATE exchange_sent_document AS kept
   SET remote_id = coalesce(done.id, kept.remote_id), awaits = '{}', is_asked = false, former_ids = now_former.ids,
       refused_at = CASE WHEN now_former.ids <> '{}' THEN kept.refused_at END,
       attempts = CASE WHEN now_former.ids <> '{}' THEN kept.attempts ELSE 0 END
  FROM unnest(%(documents)s::uuid[], %(ids)s::text[], %(former)s::text[]) AS done (document, id, former)
  JOIN exchange_sent_document before ON before.connection = %(connection)s AND before.document_uuid = done.document
 CROSS JOIN LATERAL (
    -- What it has replaced once may be what it is again.
    SELECT array_remove(
        CASE WHEN done.former IS NULL OR done.former = ANY (before.former_ids) THEN before.former_ids
             ELSE before.former_ids || done.former END, coalesce(done.id, before.remote_id))
 ) AS now_former (ids)
 WHERE kept.id = before.id
