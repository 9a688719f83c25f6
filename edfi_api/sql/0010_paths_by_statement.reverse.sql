DROP TRIGGER document_joins_paths ON document;
DROP TRIGGER document_moves_between_paths ON document;
DROP TRIGGER document_leaves_paths ON document;
DROP TRIGGER document_of_person_leaves_paths ON document;
DROP FUNCTION documents_join_paths, document_moves_between_paths, document_leaves_paths, person_leaves_paths,
    add_paths, remove_paths, lock_people;
DROP TYPE path_end;

-- As 0006 and 0007 have them.
CREATE FUNCTION document_joins_paths() RETURNS trigger LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
BEGIN
    IF NEW.student IS NOT NULL AND NEW.organization IS NOT NULL THEN
        INSERT INTO reached_document
        SELECT own.resource_type_id, NEW.resource_type_id, NEW.organization, own.id, NEW.id, NULL
          FROM (
            SELECT d.id, d.resource_type_id FROM document d JOIN alias a ON a.document_id = d.id
             WHERE d.is_person AND d.student = NEW.student FOR NO KEY UPDATE OF a
          ) own
            ON CONFLICT DO NOTHING;
        IF EXISTS (
            SELECT FROM document d WHERE d.student = NEW.student AND d.organization IS NULL AND d.is_person IS NOT TRUE
        ) THEN
            INSERT INTO reached_document
            SELECT d.resource_type_id, NEW.resource_type_id, NEW.organization, d.id, NEW.id, NULL
              FROM document d WHERE d.student = NEW.student AND d.organization IS NULL
                ON CONFLICT DO NOTHING;
            PERFORM FROM document d JOIN alias a ON a.document_id = d.id
              WHERE d.is_person AND d.student IS NULL AND d.contact IN (
                        SELECT q.contact FROM document q
                         WHERE q.student = NEW.student AND q.opens_pathway AND q.organization IS NULL
                    )
              ORDER BY d.id FOR NO KEY UPDATE OF a;
            INSERT INTO reached_document
            SELECT d.resource_type_id, NEW.resource_type_id, NEW.organization, d.id, NEW.id, q.id
              FROM document q JOIN document d ON d.contact = q.contact
             WHERE q.student = NEW.student AND q.opens_pathway AND q.organization IS NULL
               AND d.organization IS NULL AND d.student IS NULL
                ON CONFLICT DO NOTHING;
        END IF;
    ELSIF NEW.student IS NOT NULL THEN
        PERFORM FROM document d JOIN alias a ON a.document_id = d.id
          WHERE d.is_person AND d.student = NEW.student FOR NO KEY UPDATE OF a;
        INSERT INTO reached_document
        SELECT NEW.resource_type_id, p.resource_type_id, p.organization, NEW.id, p.id, NULL
          FROM document p WHERE p.student = NEW.student AND p.opens_pathway AND p.organization IS NOT NULL
            ON CONFLICT DO NOTHING;
    END IF;
    IF NEW.contact IS NOT NULL AND NEW.organization IS NULL THEN
        PERFORM FROM document d JOIN alias a ON a.document_id = d.id
          WHERE d.is_person AND d.student IS NULL AND d.contact = NEW.contact FOR NO KEY UPDATE OF a;
        IF NEW.opens_pathway THEN
            INSERT INTO reached_document
            SELECT d.resource_type_id, p.resource_type_id, p.organization, d.id, p.id, NEW.id
              FROM document p CROSS JOIN document d
             WHERE p.student = NEW.student AND p.opens_pathway AND p.organization IS NOT NULL
               AND d.contact = NEW.contact AND d.organization IS NULL AND d.student IS NULL
                ON CONFLICT DO NOTHING;
        ELSIF NEW.student IS NULL THEN
            INSERT INTO reached_document
            SELECT NEW.resource_type_id, p.resource_type_id, p.organization, NEW.id, p.id, q.id
              FROM document q JOIN document p ON p.student = q.student
             WHERE q.contact = NEW.contact AND q.opens_pathway AND q.organization IS NULL
               AND p.opens_pathway AND p.organization IS NOT NULL
                ON CONFLICT DO NOTHING;
        END IF;
    END IF;
    IF NEW.staff IS NOT NULL THEN
        PERFORM FROM document d JOIN alias a ON a.document_id = d.id
          WHERE d.is_person AND d.student IS NULL AND d.contact IS NULL AND d.staff = NEW.staff
            FOR NO KEY UPDATE OF a;
        IF NEW.organization IS NOT NULL THEN
            INSERT INTO reached_document
            SELECT d.resource_type_id, NEW.resource_type_id, NEW.organization, d.id, NEW.id, NULL
              FROM document d
             WHERE d.staff = NEW.staff AND d.organization IS NULL AND d.student IS NULL AND d.contact IS NULL
                ON CONFLICT DO NOTHING;
        ELSIF NEW.student IS NULL AND NEW.contact IS NULL THEN
            INSERT INTO reached_document
            SELECT NEW.resource_type_id, p.resource_type_id, p.organization, NEW.id, p.id, NULL
              FROM document p WHERE p.staff = NEW.staff AND p.opens_pathway AND p.organization IS NOT NULL
                ON CONFLICT DO NOTHING;
        END IF;
    END IF;
    RETURN NULL;
END
$$;

CREATE FUNCTION document_leaves_paths() RETURNS trigger LANGUAGE plpgsql
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
BEGIN
    PERFORM FROM document d JOIN alias a ON a.document_id = d.id
      WHERE d.is_person AND d.student = OLD.student FOR NO KEY UPDATE OF a;
    PERFORM FROM document d JOIN alias a ON a.document_id = d.id
      WHERE d.is_person AND d.student IS NULL AND d.contact IN (
                SELECT OLD.contact
                 UNION ALL
                SELECT q.contact FROM document q
                 WHERE q.student = OLD.student AND q.opens_pathway AND q.organization IS NULL
            )
      ORDER BY d.id FOR NO KEY UPDATE OF a;
    PERFORM FROM document d JOIN alias a ON a.document_id = d.id
      WHERE d.is_person AND d.student IS NULL AND d.contact IS NULL AND d.staff = OLD.staff
        FOR NO KEY UPDATE OF a;
    DELETE FROM reached_document WHERE document_id = OLD.id;
    DELETE FROM reached_document WHERE association_id = OLD.id;
    DELETE FROM reached_document WHERE contact_association_id = OLD.id;
    RETURN NULL;
END
$$;

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

CREATE TRIGGER document_joins_paths AFTER INSERT ON document FOR EACH ROW
    WHEN ((NEW.opens_pathway OR NEW.organization IS NULL) AND NEW.is_person IS NOT TRUE
          AND (NEW.student IS NOT NULL OR NEW.contact IS NOT NULL OR NEW.staff IS NOT NULL)
          AND current_setting('meadowlark.joins_paths', true) IS DISTINCT FROM 'later')
    EXECUTE FUNCTION document_joins_paths();
CREATE TRIGGER document_leaves_paths AFTER DELETE ON document FOR EACH ROW
    WHEN ((OLD.opens_pathway OR OLD.organization IS NULL)
          AND (OLD.student IS NOT NULL OR OLD.contact IS NOT NULL OR OLD.staff IS NOT NULL))
    EXECUTE FUNCTION document_leaves_paths();
CREATE TRIGGER document_moves_1_leaves_paths AFTER UPDATE OF organization, student, contact, staff, opens_pathway
    ON document FOR EACH ROW
    WHEN ((NEW.organization, NEW.student, NEW.contact, NEW.staff, NEW.opens_pathway)
          IS DISTINCT FROM (OLD.organization, OLD.student, OLD.contact, OLD.staff, OLD.opens_pathway))
    EXECUTE FUNCTION document_leaves_paths();
CREATE TRIGGER document_moves_2_joins_paths AFTER UPDATE OF organization, student, contact, staff, opens_pathway
    ON document FOR EACH ROW
    WHEN ((NEW.organization, NEW.student, NEW.contact, NEW.staff, NEW.opens_pathway)
          IS DISTINCT FROM (OLD.organization, OLD.student, OLD.contact, OLD.staff, OLD.opens_pathway)
          AND (NEW.opens_pathway OR NEW.organization IS NULL))
    EXECUTE FUNCTION document_joins_paths();
