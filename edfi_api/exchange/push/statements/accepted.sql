UPDATE exchange_sent_document AS kept
   SET remote_id = coalesce(done.id, kept.remote_id), refused_at = NULL, attempts = 0, awaits = '{}', is_asked = false,
       former_ids = CASE WHEN done.former IS NULL OR done.former = ANY (kept.former_ids) THEN kept.former_ids
                         ELSE kept.former_ids || done.former END
  FROM unnest(%(documents)s::uuid[], %(ids)s::text[], %(former)s::text[]) AS done (document, id, former)
 WHERE kept.connection = %(connection)s AND kept.document_uuid = done.document
