-- As `links.sql`, for each of the documents of a set in the rows `{rows}`. A target that a concurrent transaction has
-- locked counts as missing, so that one document does not make the others wait.
linked AS MATERIALIZED (
    SELECT s.position, place, target.resource_type_id, target.document_uuid
      FROM {rows} s CROSS JOIN unnest(s.linked) WITH ORDINALITY AS l (alias_id, place)
           -- A subquery that locks rows is executed for each target, whatever PostgreSQL expects of the tables' sizes.
           CROSS JOIN LATERAL (
               SELECT d.resource_type_id, d.document_uuid FROM alias a JOIN document d ON d.id = a.document_id
                WHERE a.referential_id = l.alias_id
                  FOR KEY SHARE OF a SKIP LOCKED
           ) target
), links AS MATERIALIZED (
    SELECT position, array_agg(resource_type_id ORDER BY place) AS types,
           array_agg(document_uuid ORDER BY place) AS ids, count(*) AS number
      FROM linked GROUP BY position
)
