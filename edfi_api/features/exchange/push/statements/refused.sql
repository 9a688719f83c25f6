UPDATE exchange_sent_document AS kept
   SET refused_at = now(), attempts = kept.attempts + 1, is_asked = false,
       remote_id = coalesce(kept.remote_id, sent.id),
       awaits = ARRAY(SELECT jsonb_array_elements_text(sent.awaits)::uuid)
  FROM jsonb_to_recordset(%(refused)s::jsonb) AS sent (document uuid, id text, awaits jsonb)
 WHERE kept.connection = %(connection)s AND kept.document_uuid = sent.document
