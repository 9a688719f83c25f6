-- Part of the upsert: the targets that are stored, and the document itself, if it refers to itself and does not exist yet.
(
        TABLE linked UNION ALL
        SELECT place, %(resource_type)s::smallint, %(document_uuid)s::uuid
          FROM unnest(%(linked)s::uuid[]) WITH ORDINALITY AS l (alias_id, place)
         WHERE alias_id = ANY (%(aliases)s::uuid[]) AND NOT EXISTS (SELECT FROM existing)
      ) stored_or_new
