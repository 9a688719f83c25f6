-- Part of the statements that write: the targets of reference objects, which are copied into the row. They are locked as
-- the foreign key check does later in the transaction, so a copied target cannot change before the commit. Nothing is
-- written if one is missing.
linked AS MATERIALIZED (
    SELECT place, d.resource_type_id, d.document_uuid
      FROM unnest(%(linked)s::uuid[]) WITH ORDINALITY AS l (alias_id, place)
      JOIN alias a ON a.referential_id = l.alias_id JOIN document d ON d.id = a.document_id
       FOR KEY SHARE OF a
), links AS MATERIALIZED (
    SELECT array_agg(resource_type_id ORDER BY place) AS types, array_agg(document_uuid ORDER BY place) AS ids,
           count(*) = cardinality(%(linked)s::uuid[]) AS are_there
      FROM {found}
)
