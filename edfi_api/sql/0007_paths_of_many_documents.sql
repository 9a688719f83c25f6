-- What many new documents bring to `reached_document`, asked in one go: one after the other, as the trigger of 0006 asks,
-- took a load of associations a fifth of its time (7,300 in a second then, 8,900 now, `python -m tests.benchmarks.bulk`).
-- A load says `SET LOCAL meadowlark.joins_paths TO later` before a statement that inserts many documents, which keeps the
-- trigger from them, and calls `documents_join_paths` behind it.

-- Locks the people of these numbers: students before contacts before staff, as 0006 does, in one order each, so that two
-- who want many do not wait for each other. They are looked up by arrays and not by joins: where statistics are of a time
-- before these people came, the planner takes them for few and would compare all with all.
CREATE FUNCTION lock_people(students text[], contacts text[], staff_members text[]) RETURNS void LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
BEGIN
    PERFORM FROM alias WHERE document_id = ANY (ARRAY(
        SELECT id FROM document WHERE is_person AND student = ANY (students)
    )) ORDER BY document_id FOR NO KEY UPDATE;
    PERFORM FROM alias WHERE document_id = ANY (ARRAY(
        SELECT id FROM document WHERE is_person AND student IS NULL AND contact = ANY (contacts)
    )) ORDER BY document_id FOR NO KEY UPDATE;
    PERFORM FROM alias WHERE document_id = ANY (ARRAY(
        SELECT id FROM document WHERE is_person AND student IS NULL AND contact IS NULL AND staff = ANY (staff_members)
    )) ORDER BY document_id FOR NO KEY UPDATE;
END
$$;

-- `ids` are those of new documents. A load has locked the people whom these name before it wrote, but for those who came
-- between that and the insert, or whose documents went; so all are locked here. Those who are already cost little.
-- As in the views of 0006, `p` brings a person under an organization, `q` leads from a student to a contact, and `d` is
-- about the person.
-- All questions begin at what is new, whatever the statistics say: behind OFFSET 0 the planner cannot turn them round.
CREATE FUNCTION documents_join_paths(ids bigint[]) RETURNS void LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
BEGIN
    PERFORM lock_people(ARRAY(SELECT student FROM document WHERE id = ANY (ids)), NULL, NULL);
    PERFORM lock_people(NULL, ARRAY(
        SELECT contact FROM document WHERE id = ANY (ids)
         UNION ALL
        SELECT contact FROM document WHERE opens_pathway AND organization IS NULL AND student = ANY (ARRAY(
            SELECT student FROM (
                SELECT student, organization, opens_pathway FROM document WHERE id = ANY (ids) OFFSET 0
            ) p
             WHERE opens_pathway AND organization IS NOT NULL
        ))
    ), ARRAY(SELECT staff FROM document WHERE id = ANY (ids)));
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
      FROM new p CROSS JOIN LATERAL (
        SELECT id, contact FROM document
         WHERE student = p.student AND opens_pathway AND organization IS NULL OFFSET 0
      ) q CROSS JOIN LATERAL (
        SELECT id, resource_type_id FROM document
         WHERE contact = q.contact AND organization IS NULL AND student IS NULL OFFSET 0
      ) d
     WHERE p.student IS NOT NULL AND p.opens_pathway AND p.organization IS NOT NULL
     UNION ALL
    SELECT d.resource_type_id, p.resource_type_id, p.organization, d.id, p.id, q.id
      FROM new q CROSS JOIN LATERAL (
        SELECT id, resource_type_id, organization FROM document
         WHERE student = q.student AND opens_pathway AND organization IS NOT NULL OFFSET 0
      ) p CROSS JOIN LATERAL (
        SELECT id, resource_type_id FROM document
         WHERE contact = q.contact AND organization IS NULL AND student IS NULL OFFSET 0
      ) d
     WHERE q.contact IS NOT NULL AND q.opens_pathway AND q.organization IS NULL
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
