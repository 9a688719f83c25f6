-- The latest documents of some resources that refer to a person, and how many there are up to a bound. By the index of
-- identity and resource; the sort is of what refers to one person.
SELECT wanted.type, counted.number, d.id, d.document_uuid, d.natural_key, d.body::text, d.last_modified_at,
       d.last_modified_by
  FROM unnest(%(types)s::smallint[], %(sizes)s::int[]) AS wanted (type, size)
  CROSS JOIN LATERAL (
      SELECT count(*) AS number
        FROM (SELECT FROM reference WHERE alias_id = %(person)s AND resource_type_id = wanted.type
               LIMIT %(counted)s) AS first_ones
  ) AS counted
  CROSS JOIN LATERAL (
      SELECT document_id FROM reference WHERE alias_id = %(person)s AND resource_type_id = wanted.type
       ORDER BY document_id DESC LIMIT wanted.size
  ) AS latest
  JOIN document d ON d.id = latest.document_id
 ORDER BY d.id DESC
