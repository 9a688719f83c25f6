-- What many new documents bring to `reached_document`, asked in one go: one after the other, as the trigger of 0006 asks,
-- took a load of associations a fifth of its time (7,300 in a second then, 8,900 now, `python -m tests.benchmarks.bulk`).
-- A load says `SET LOCAL meadowlark.joins_paths TO later` before a statement that inserts many documents, which keeps the
-- trigger from them, and calls this function behind it.
--
-- `ids` are those of new documents; the people whom these name are locked already. As in the views of 0006, `p` brings a
-- person under an organization, `q` leads from a student to a contact, and `d` is about the person.
-- All questions begin at what is new, whatever the statistics say: behind OFFSET 0 the planner cannot turn them round.
CREATE FUNCTION documents_join_paths(ids bigint[]) RETURNS void LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
    relations bigint[] := ARRAY(
        SELECT id FROM document WHERE id = ANY (ids) AND contact IS NOT NULL AND opens_pathway AND organization IS NULL
         UNION ALL
        SELECT q.id FROM document p CROSS JOIN LATERAL (
            SELECT id FROM document WHERE student = p.student AND opens_pathway AND organization IS NULL OFFSET 0
        ) q
         WHERE p.id = ANY (ids) AND p.opens_pathway AND p.organization IS NOT NULL
    );
BEGIN
    PERFORM FROM alias WHERE document_id = ANY (ARRAY(
        SELECT id FROM document WHERE is_person AND student IS NULL AND contact = ANY (ARRAY(
            SELECT contact FROM document WHERE id = ANY (relations)
        ))
    )) ORDER BY document_id FOR NO KEY UPDATE;
    INSERT INTO reached_document
    WITH new AS MATERIALIZED (
        SELECT id, resource_type_id, organization, student, contact, staff, opens_pathway
          FROM document WHERE id = ANY (ids)
    )
    SELECT d.resource_type_id, p.resource_type_id, p.organization, d.id, p.id, NULL::bigint
      FROM new p CROSS JOIN LATERAL (
        SELECT id, resource_type_id FROM document WHERE student = p.student AND organization IS NULL OFFSET 0
      ) d
     WHERE p.student IS NOT NULL AND p.opens_pathway AND p.organization IS NOT NULL
     UNION ALL
    SELECT d.resource_type_id, p.resource_type_id, p.organization, d.id, p.id, NULL
      FROM new d CROSS JOIN LATERAL (
        SELECT id, resource_type_id, organization FROM document
         WHERE student = d.student AND opens_pathway AND organization IS NOT NULL OFFSET 0
      ) p
     WHERE d.student IS NOT NULL AND d.organization IS NULL
     UNION ALL
    SELECT d.resource_type_id, p.resource_type_id, p.organization, d.id, p.id, q.id
      FROM document q CROSS JOIN LATERAL (
        SELECT id, resource_type_id, organization FROM document
         WHERE student = q.student AND opens_pathway AND organization IS NOT NULL OFFSET 0
      ) p CROSS JOIN LATERAL (
        SELECT id, resource_type_id FROM document
         WHERE contact = q.contact AND organization IS NULL AND student IS NULL OFFSET 0
      ) d
     WHERE q.id = ANY (relations)
     UNION ALL
    SELECT d.resource_type_id, p.resource_type_id, p.organization, d.id, p.id, q.id
      FROM new d CROSS JOIN LATERAL (
        SELECT id, student FROM document
         WHERE contact = d.contact AND opens_pathway AND organization IS NULL OFFSET 0
      ) q CROSS JOIN LATERAL (
        SELECT id, resource_type_id, organization FROM document
         WHERE student = q.student AND opens_pathway AND organization IS NOT NULL OFFSET 0
      ) p
     WHERE d.contact IS NOT NULL AND d.organization IS NULL AND d.student IS NULL
     UNION ALL
    SELECT d.resource_type_id, p.resource_type_id, p.organization, d.id, p.id, NULL
      FROM new p CROSS JOIN LATERAL (
        SELECT id, resource_type_id FROM document
         WHERE staff = p.staff AND organization IS NULL AND student IS NULL AND contact IS NULL OFFSET 0
      ) d
     WHERE p.staff IS NOT NULL AND p.opens_pathway AND p.organization IS NOT NULL
     UNION ALL
    SELECT d.resource_type_id, p.resource_type_id, p.organization, d.id, p.id, NULL
      FROM new d CROSS JOIN LATERAL (
        SELECT id, resource_type_id, organization FROM document
         WHERE staff = d.staff AND opens_pathway AND organization IS NOT NULL OFFSET 0
      ) p
     WHERE d.staff IS NOT NULL AND d.organization IS NULL AND d.student IS NULL AND d.contact IS NULL
        ON CONFLICT DO NOTHING;
END
$$;

DROP TRIGGER document_joins_paths ON document;
CREATE TRIGGER document_joins_paths AFTER INSERT ON document FOR EACH ROW
    WHEN ((NEW.opens_pathway OR NEW.organization IS NULL) AND NEW.is_person IS NOT TRUE
          AND (NEW.student IS NOT NULL OR NEW.contact IS NOT NULL OR NEW.staff IS NOT NULL)
          AND current_setting('meadowlark.joins_paths', true) IS DISTINCT FROM 'later')
    EXECUTE FUNCTION document_joins_paths();
