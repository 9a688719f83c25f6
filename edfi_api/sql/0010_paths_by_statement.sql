-- Which organizations reach the documents about a person is defined by the views student_path, contact_path and
-- staff_path of 0006 alone. Triggers copy into `reached_document` the rows of the views in which a new document occurs,
-- whether a statement inserts one document or thousands.

DROP TRIGGER document_joins_paths ON document;
DROP TRIGGER document_moves_1_leaves_paths ON document;
DROP TRIGGER document_moves_2_joins_paths ON document;
DROP TRIGGER document_leaves_paths ON document;
DROP FUNCTION document_joins_paths, document_leaves_paths, documents_join_paths, lock_people;

-- Locks people by the numbers that documents name, against concurrent changes of their paths: students before contacts
-- before staff, each in the order of their rows, so that two transactions that lock many do not wait for each other.
-- They are found by arrays and not by joins: with statistics of a time before these people were stored, the planner
-- would expect few rows and compare all with all. Callers assign the result instead of using PERFORM, which would start
-- and end a query for each call.
CREATE FUNCTION lock_people(students text[], contacts text[], staff_members text[]) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    IF students <> '{}' THEN
        PERFORM FROM alias WHERE document_id = ANY (ARRAY(
            SELECT id FROM document WHERE is_person AND student = ANY (students)
        )) ORDER BY document_id FOR NO KEY UPDATE;
    END IF;
    IF contacts <> '{}' THEN
        PERFORM FROM alias WHERE document_id = ANY (ARRAY(
            SELECT id FROM document WHERE is_person AND student IS NULL AND contact = ANY (contacts)
        )) ORDER BY document_id FOR NO KEY UPDATE;
    END IF;
    IF staff_members <> '{}' THEN
        PERFORM FROM alias WHERE document_id = ANY (ARRAY(
            SELECT id FROM document
             WHERE is_person AND student IS NULL AND contact IS NULL AND staff = ANY (staff_members)
        )) ORDER BY document_id FOR NO KEY UPDATE;
    END IF;
    RETURN FOUND;
END
$$;

-- What the paths of a new document depend on.
CREATE TYPE path_end AS (
    id bigint, resource_type_id smallint, organization bigint, student text, contact text, staff text,
    opens_pathway boolean
);

-- Adds the paths in which new documents occur: `associations`, which bring people under organizations, and `others`. The
-- people are those whom both name. Each statement after a lock sees what was committed while the transaction waited for
-- it. As in the views, `p` brings a person under an organization, `q` leads from a student to a contact, and `d` is about
-- the person.
-- A session plans each statement once, perhaps in a database that is still empty, or with statistics of a time before
-- the people came. So each begins at what is new, behind OFFSET 0 the planner cannot reorder it, and the settings keep
-- the planner to nested loops over indexes, which are right at any size, and from planning for each array again.
CREATE FUNCTION add_paths(
    associations path_end[], others path_end[], students text[], contacts text[], staff_members text[]
) RETURNS boolean
LANGUAGE plpgsql SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    is_locked boolean;
BEGIN
    IF students <> '{}' THEN
        is_locked := lock_people(students, NULL, NULL);
    END IF;
    IF students <> '{}' AND associations <> '{}' THEN
        INSERT INTO reached_document
        SELECT d.resource_type_id, p.resource_type_id, p.organization, d.id, p.id, NULL
          FROM unnest(associations) p CROSS JOIN LATERAL (
            SELECT id, resource_type_id FROM document WHERE student = p.student AND organization IS NULL OFFSET 0
          ) d
            ON CONFLICT DO NOTHING;
        contacts := contacts || ARRAY(
            SELECT contact FROM document
             WHERE student = ANY (students) AND opens_pathway AND organization IS NULL AND contact IS NOT NULL
        );
    END IF;
    IF students <> '{}' AND others <> '{}' THEN
        INSERT INTO reached_document
        SELECT d.resource_type_id, p.resource_type_id, p.organization, d.id, p.id, NULL
          FROM unnest(others) d CROSS JOIN LATERAL (
            SELECT id, resource_type_id, organization FROM document
             WHERE student = d.student AND opens_pathway AND organization IS NOT NULL OFFSET 0
          ) p
            ON CONFLICT DO NOTHING;
    END IF;
    IF contacts <> '{}' THEN
        is_locked := lock_people(NULL, contacts, NULL);
    END IF;
    IF contacts <> '{}' AND associations <> '{}' THEN
        INSERT INTO reached_document
        SELECT d.resource_type_id, p.resource_type_id, p.organization, d.id, p.id, q.id
          FROM unnest(associations) p CROSS JOIN LATERAL (
            SELECT id, contact FROM document
             WHERE student = p.student AND opens_pathway AND organization IS NULL OFFSET 0
          ) q CROSS JOIN LATERAL (
            SELECT id, resource_type_id FROM document
             WHERE contact = q.contact AND organization IS NULL AND student IS NULL OFFSET 0
          ) d
            ON CONFLICT DO NOTHING;
    END IF;
    IF contacts <> '{}' AND others <> '{}' THEN
        INSERT INTO reached_document
        SELECT d.resource_type_id, p.resource_type_id, p.organization, d.id, p.id, q.id
          FROM unnest(others) q CROSS JOIN LATERAL (
            SELECT id, resource_type_id, organization FROM document
             WHERE student = q.student AND opens_pathway AND organization IS NOT NULL OFFSET 0
          ) p CROSS JOIN LATERAL (
            SELECT id, resource_type_id FROM document
             WHERE contact = q.contact AND organization IS NULL AND student IS NULL OFFSET 0
          ) d
         WHERE q.opens_pathway
         UNION ALL
        SELECT d.resource_type_id, p.resource_type_id, p.organization, d.id, p.id, q.id
          FROM unnest(others) d CROSS JOIN LATERAL (
            SELECT id, student FROM document
             WHERE contact = d.contact AND opens_pathway AND organization IS NULL OFFSET 0
          ) q CROSS JOIN LATERAL (
            SELECT id, resource_type_id, organization FROM document
             WHERE student = q.student AND opens_pathway AND organization IS NOT NULL OFFSET 0
          ) p
         WHERE d.student IS NULL
            ON CONFLICT DO NOTHING;
    END IF;
    IF staff_members <> '{}' THEN
        is_locked := lock_people(NULL, NULL, staff_members);
        INSERT INTO reached_document
        SELECT d.resource_type_id, p.resource_type_id, p.organization, d.id, p.id, NULL::bigint
          FROM unnest(associations) p CROSS JOIN LATERAL (
            SELECT id, resource_type_id FROM document
             WHERE staff = p.staff AND organization IS NULL AND student IS NULL AND contact IS NULL OFFSET 0
          ) d
         UNION ALL
        SELECT d.resource_type_id, p.resource_type_id, p.organization, d.id, p.id, NULL
          FROM unnest(others) d CROSS JOIN LATERAL (
            SELECT id, resource_type_id, organization FROM document
             WHERE staff = d.staff AND opens_pathway AND organization IS NOT NULL OFFSET 0
          ) p
         WHERE d.student IS NULL AND d.contact IS NULL
            ON CONFLICT DO NOTHING;
    END IF;
    RETURN FOUND;
END
$$;

-- Removes the paths in which a document occurs that named these people. A transaction that adds paths of the same people
-- concurrently waits for these locks, or its rows are visible behind them.
CREATE FUNCTION remove_paths(document_id bigint, student text, contact text, staff text) RETURNS void
LANGUAGE plpgsql SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
    is_locked boolean;
BEGIN
    is_locked := lock_people(array_remove(ARRAY[remove_paths.student], NULL), NULL, NULL);
    is_locked := lock_people(NULL, array_remove(remove_paths.contact || ARRAY(
        SELECT q.contact FROM document q
         WHERE q.student = remove_paths.student AND q.opens_pathway AND q.organization IS NULL
    ), NULL), array_remove(ARRAY[remove_paths.staff], NULL));
    DELETE FROM reached_document
     WHERE document_id = remove_paths.document_id OR association_id = remove_paths.document_id
        OR contact_association_id = remove_paths.document_id;
END
$$;

-- The document of a person is stored before any other about that person, so nothing has to be added for it.
CREATE FUNCTION documents_join_paths() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    joining record;
    is_joined boolean;
BEGIN
    SELECT array_agg((id, resource_type_id, organization, student, contact, staff, opens_pathway)::path_end)
             FILTER (WHERE organization IS NOT NULL) AS associations,
           array_agg((id, resource_type_id, organization, student, contact, staff, opens_pathway)::path_end)
             FILTER (WHERE organization IS NULL) AS others,
           array_agg(student) FILTER (WHERE student IS NOT NULL) AS students,
           array_agg(contact) FILTER (WHERE contact IS NOT NULL) AS contacts,
           array_agg(staff) FILTER (WHERE staff IS NOT NULL) AS staff_members
      INTO joining FROM inserted
     WHERE (opens_pathway OR organization IS NULL) AND is_person IS NOT TRUE
       AND (student IS NOT NULL OR contact IS NOT NULL OR staff IS NOT NULL);
    IF joining.associations <> '{}' OR joining.others <> '{}' THEN
        is_joined := add_paths(joining.associations, joining.others, joining.students, joining.contacts,
                               joining.staff_members);
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER document_joins_paths AFTER INSERT ON document REFERENCING NEW TABLE AS inserted
    FOR EACH STATEMENT EXECUTE FUNCTION documents_join_paths();

-- Moves and deletes are rare and of single documents, and a trigger of rows has a condition, which costs the other
-- updates and deletes next to nothing.
CREATE FUNCTION document_moves_between_paths() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    moved path_end[] := ARRAY[(NEW.id, NEW.resource_type_id, NEW.organization, NEW.student, NEW.contact, NEW.staff,
                               NEW.opens_pathway)::path_end];
BEGIN
    PERFORM remove_paths(OLD.id, OLD.student, OLD.contact, OLD.staff);
    IF NEW.opens_pathway OR NEW.organization IS NULL THEN
        PERFORM add_paths(
            CASE WHEN NEW.organization IS NOT NULL THEN moved END, CASE WHEN NEW.organization IS NULL THEN moved END,
            array_remove(ARRAY[NEW.student], NULL), array_remove(ARRAY[NEW.contact], NULL),
            array_remove(ARRAY[NEW.staff], NULL)
        );
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER document_moves_between_paths AFTER UPDATE OF organization, student, contact, staff, opens_pathway
    ON document FOR EACH ROW
    WHEN ((NEW.organization, NEW.student, NEW.contact, NEW.staff, NEW.opens_pathway)
          IS DISTINCT FROM (OLD.organization, OLD.student, OLD.contact, OLD.staff, OLD.opens_pathway))
    EXECUTE FUNCTION document_moves_between_paths();

CREATE FUNCTION document_leaves_paths() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM remove_paths(OLD.id, OLD.student, OLD.contact, OLD.staff);
    RETURN NULL;
END
$$;
CREATE TRIGGER document_leaves_paths AFTER DELETE ON document FOR EACH ROW
    WHEN ((OLD.opens_pathway OR OLD.organization IS NULL) AND OLD.is_person IS NOT TRUE
          AND (OLD.student IS NOT NULL OR OLD.contact IS NOT NULL OR OLD.staff IS NOT NULL))
    EXECUTE FUNCTION document_leaves_paths();
-- Foreign keys let a person go only after all documents that bring the person under an organization.
CREATE FUNCTION person_leaves_paths() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM reached_document WHERE document_id = OLD.id;
    RETURN NULL;
END
$$;
CREATE TRIGGER document_of_person_leaves_paths AFTER DELETE ON document FOR EACH ROW
    WHEN (OLD.is_person) EXECUTE FUNCTION person_leaves_paths();
