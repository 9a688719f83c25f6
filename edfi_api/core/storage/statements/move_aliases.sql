-- The rows of `reference` that point at them follow by ON UPDATE CASCADE.
UPDATE alias a SET referential_id = moved.new
  FROM unnest(%(stored)s::uuid[], %(new)s::uuid[]) AS moved (stored, new)
 WHERE a.referential_id = moved.stored
RETURNING a.document_id
