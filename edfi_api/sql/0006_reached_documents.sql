-- Who may be seen from which organization: the documents about people, by the organizations that associations bring
-- these people under. A page of them is wanted in their own order, and the path to them begins at an organization and
-- leads over one or two associations; walked anew for each page, everybody in the organization would have to be looked
-- up and sorted. So the ends of the paths are kept, one row for each path.
--
-- The Ed-Fi ODS joins views for it at each request; the Data Management Service writes all organizations, those above
-- included, into every document of a person. Here a row has the organization of the association only: the few
-- organizations below a claim are joined when it is read, a district that moves changes no row, and an association
-- costs a row for each document about its person alone. What belongs to an organization itself is found by that
-- (`document_organization`) and has no rows here.
--
-- Triggers keep the table in the transaction that writes the document, whoever writes. Two that make the two ends of a
-- path at once would not see each other; so whoever touches a path locks the people on it, students before contacts,
-- and looks at what there is behind the lock. It is the person's alias that is locked, on which the foreign key of most
-- of them has a weaker lock anyway, so that changes of the person's document are not in the way. Rows go by the documents
-- they came from, never by what these say.

-- The document of a person, which is there before any other about that person, and goes after them.
ALTER TABLE document ADD COLUMN is_person boolean;
-- Documents that are there already: whatever the number of a person identifies, and not by a reference.
UPDATE document SET is_person = true
 WHERE organization IS NULL AND natural_key ~ '^NK#[^.=#]+='
   AND substr(natural_key, strpos(natural_key, '=') + 1) IN (student, contact, staff);
-- Serves the lock.
CREATE INDEX document_person ON document (student, contact, staff) WHERE is_person;

CREATE TABLE reached_document (
    resource_type_id smallint NOT NULL,
    association_type_id smallint NOT NULL,
    organization bigint NOT NULL,
    document_id bigint NOT NULL,
    association_id bigint NOT NULL,
    contact_association_id bigint,
    -- Serves the upkeep when a document changes or goes.
    UNIQUE NULLS NOT DISTINCT (document_id, association_id, contact_association_id)
);
-- Serves "the documents that these organizations reach", each organization's in insertion order.
CREATE INDEX reached_document_page
    ON reached_document (resource_type_id, association_type_id, organization, document_id);
-- Serve the upkeep when an association changes or goes.
CREATE INDEX reached_document_association ON reached_document (association_id);
CREATE INDEX reached_document_contact_association ON reached_document (contact_association_id)
    WHERE contact_association_id IS NOT NULL;

-- The rows that there have to be, worked out from the documents alone. A document about several people is found by the
-- student, or else the contact: all strategies that look at the others look at these too.
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

INSERT INTO reached_document TABLE authorization_path;

-- Each statement after a lock sees what was committed while waiting for it. An enrollment, of which there are many, mostly
-- finds nothing about the student but the student's own document, which is locked and written down in one statement.
-- A plan is made once for a session. All these questions are about one person and have an index to go by, so nested loops
-- are right; without statistics, in a database that is being filled, PostgreSQL would join all documents with all aliases
-- for each row (12 ms instead of 0.1), and keep a plan of an empty database for a full one. For the same reason the paths
-- are found from the people in the new row, and not in the views by its id: with statistics of a time before the students
-- came, PostgreSQL read all enrollments for each row (65 ms with 60,000 of them).
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

-- Whoever joins the same people meanwhile has their lock, or sees what is gone.
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

-- No association is there before its person.
CREATE TRIGGER document_joins_paths AFTER INSERT ON document FOR EACH ROW
    WHEN ((NEW.opens_pathway OR NEW.organization IS NULL) AND NEW.is_person IS NOT TRUE
          AND (NEW.student IS NOT NULL OR NEW.contact IS NOT NULL OR NEW.staff IS NOT NULL))
    EXECUTE FUNCTION document_joins_paths();
CREATE TRIGGER document_leaves_paths AFTER DELETE ON document FOR EACH ROW
    WHEN ((OLD.opens_pathway OR OLD.organization IS NULL)
          AND (OLD.student IS NOT NULL OR OLD.contact IS NOT NULL OR OLD.staff IS NOT NULL))
    EXECUTE FUNCTION document_leaves_paths();
-- A document that moves leaves before it joins: triggers of one event run in the order of their names.
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

-- TRUNCATE fires no triggers of rows.
CREATE FUNCTION documents_leave_paths() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM reached_document; -- which may be on its way to be truncated itself
    RETURN NULL;
END
$$;
CREATE TRIGGER documents_leave_paths AFTER TRUNCATE ON document EXECUTE FUNCTION documents_leave_paths();

COMMENT ON COLUMN document.is_person IS 'True for the document of a student, contact or staff member.';
COMMENT ON TABLE reached_document IS 'Documents about people, by the organizations that associations bring these under.';
COMMENT ON COLUMN reached_document.association_id IS 'The association that brings the person, or a contact''s student, under it.';
COMMENT ON COLUMN reached_document.contact_association_id IS 'The association that leads from this student to the contact.';
COMMENT ON VIEW authorization_path IS 'What reached_document has to be.';
