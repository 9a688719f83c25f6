-- Documents about people, by the organizations that reach them: a path leads from an association, which brings a person
-- under an organization, to a document about the person; over contacts, through the association of a student with a
-- contact. Joining these for a page would read all documents of all people of the organizations and sort them, so the
-- ends of the paths are stored, one row for each path.
--
-- The Ed-Fi ODS joins views for this at each request; the Data Management Service writes all organizations, those above
-- included, into every document of a person. Here a row has the organization of the association alone: the few
-- organizations below a claim are joined when it is read, a district that moves changes no row, and an association costs
-- a row for each document about its person. What belongs to an organization itself is found by that
-- (`document_organization`) and has no rows here.
--
-- Triggers maintain the table in the transaction that writes the document, whichever program writes. Two transactions
-- that create the two ends of a path concurrently would not see each other; so a transaction that changes paths locks
-- the people on them, students before contacts before staff, and reads what exists after the lock. The lock is on the
-- alias of the person, on which the foreign keys of most of these documents have a weaker lock anyway, so that it does
-- not conflict with changes of the person's document.

CREATE TABLE reached_document (
    resource_type_id smallint NOT NULL,
    association_type_id smallint NOT NULL,
    organization bigint NOT NULL,
    document_id bigint NOT NULL,
    association_id bigint NOT NULL,
    contact_association_id bigint,
    UNIQUE NULLS NOT DISTINCT (document_id, association_id, contact_association_id)
);
COMMENT ON TABLE reached_document IS 'Documents about people, by the organizations that associations bring these under.';
COMMENT ON COLUMN reached_document.association_id IS 'The association that brings the person, or a contact''s student, under it.';
COMMENT ON COLUMN reached_document.contact_association_id IS 'The association that leads from this student to the contact.';

CREATE INDEX reached_document_page
    ON reached_document (resource_type_id, association_type_id, organization, document_id);
COMMENT ON INDEX reached_document_page IS 'Documents that organizations reach, each organization''s in the order of creation.';

CREATE INDEX reached_document_association ON reached_document (association_id);
COMMENT ON INDEX reached_document_association IS 'Paths over an association, to remove them with it.';

CREATE INDEX reached_document_contact_association ON reached_document (contact_association_id)
    WHERE contact_association_id IS NOT NULL;
COMMENT ON INDEX reached_document_contact_association IS 'Paths over an association with a contact, to remove them with it.';

-- The rows that have to exist, derived from the documents alone. A document about several people is found by the
-- student, or else the contact: all strategies that consider the others consider these too.
CREATE VIEW student_path AS
SELECT d.resource_type_id, p.resource_type_id AS association_type_id, p.organization,
       d.id AS document_id, p.id AS association_id, NULL::bigint AS contact_association_id
  FROM document p JOIN document d ON d.student = p.student
 WHERE p.opens_pathway AND p.organization IS NOT NULL
   AND d.organization IS NULL;

CREATE VIEW contact_path AS
SELECT d.resource_type_id, p.resource_type_id AS association_type_id, p.organization,
       d.id AS document_id, p.id AS association_id, q.id AS contact_association_id
  FROM document p JOIN document q ON q.student = p.student JOIN document d ON d.contact = q.contact
 WHERE p.opens_pathway AND p.organization IS NOT NULL
   AND q.opens_pathway AND q.organization IS NULL
   AND d.organization IS NULL AND d.student IS NULL;

CREATE VIEW staff_path AS
SELECT d.resource_type_id, p.resource_type_id AS association_type_id, p.organization,
       d.id AS document_id, p.id AS association_id, NULL::bigint AS contact_association_id
  FROM document p JOIN document d ON d.staff = p.staff
 WHERE p.opens_pathway AND p.organization IS NOT NULL
   AND d.organization IS NULL AND d.student IS NULL AND d.contact IS NULL;

CREATE VIEW authorization_path AS
TABLE student_path UNION ALL TABLE contact_path UNION ALL TABLE staff_path;
COMMENT ON VIEW authorization_path IS 'What reached_document has to be.';

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

-- The same for one association of a student, as most statements have: arrays of the new rows, and joins with them, took
-- a quarter of PostgreSQL's time. Paths over contacts are left to `add_paths`.
CREATE FUNCTION add_paths_of_student(association path_end) RETURNS boolean
LANGUAGE plpgsql SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    is_done boolean := lock_people(ARRAY[association.student], NULL, NULL);
    contacts text[];
BEGIN
    INSERT INTO reached_document
    SELECT d.resource_type_id, association.resource_type_id, association.organization, d.id, association.id, NULL
      FROM document d WHERE d.student = association.student AND d.organization IS NULL
        ON CONFLICT DO NOTHING;
    contacts := ARRAY(
        SELECT contact FROM document
         WHERE student = association.student AND opens_pathway AND organization IS NULL AND contact IS NOT NULL
    );
    IF contacts <> '{}' THEN
        is_done := add_paths(ARRAY[association], NULL, NULL, contacts, NULL);
    END IF;
    RETURN is_done;
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

-- The document of a person is stored before any other about that person, so it adds no paths.
CREATE FUNCTION documents_join_paths() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    first path_end;
    joining record;
    is_joined boolean;
BEGIN
    SELECT id, resource_type_id, organization, student, contact, staff, opens_pathway INTO first FROM inserted
     WHERE (opens_pathway OR organization IS NULL) AND is_person IS NOT TRUE
       AND (student IS NOT NULL OR contact IS NOT NULL OR staff IS NOT NULL);
    IF first.id IS NULL THEN
        RETURN NULL;
    END IF;
    IF first.student IS NOT NULL AND first.organization IS NOT NULL AND first.contact IS NULL AND first.staff IS NULL
       AND NOT EXISTS (SELECT FROM inserted OFFSET 1) THEN
        is_joined := add_paths_of_student(first);
        RETURN NULL;
    END IF;
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
    is_joined := add_paths(joining.associations, joining.others, joining.students, joining.contacts,
                           joining.staff_members);
    RETURN NULL;
END
$$;

CREATE TRIGGER document_joins_paths AFTER INSERT ON document REFERENCING NEW TABLE AS inserted
    FOR EACH STATEMENT EXECUTE FUNCTION documents_join_paths();
COMMENT ON TRIGGER document_joins_paths ON document IS 'Adds the paths of new documents to reached_document.';

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
COMMENT ON TRIGGER document_moves_between_paths ON document IS 'Keeps reached_document when people or organizations of a document change.';

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
COMMENT ON TRIGGER document_leaves_paths ON document IS 'Removes the paths of a deleted document from reached_document.';

-- Foreign keys let a person go only after all documents that bring the person under an organization.
CREATE FUNCTION person_leaves_paths() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM reached_document WHERE document_id = OLD.id;
    RETURN NULL;
END
$$;

CREATE TRIGGER document_of_person_leaves_paths AFTER DELETE ON document FOR EACH ROW
    WHEN (OLD.is_person) EXECUTE FUNCTION person_leaves_paths();
COMMENT ON TRIGGER document_of_person_leaves_paths ON document IS 'Removes the rows of a deleted person from reached_document.';

-- TRUNCATE fires no triggers of rows.
CREATE FUNCTION documents_leave_paths() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM reached_document; -- which may be on its way to be truncated itself
    RETURN NULL;
END
$$;

CREATE TRIGGER documents_leave_paths AFTER TRUNCATE ON document EXECUTE FUNCTION documents_leave_paths();
COMMENT ON TRIGGER documents_leave_paths ON document IS 'Empties reached_document at TRUNCATE, which fires no triggers of rows.';
