-- Most statements insert one document, which has no paths to add or is an association of a student. For these the trigger
-- took a quarter of PostgreSQL's time: it put the new rows into arrays, and `add_paths` joined with them.

-- As `add_paths`, for one association of a student. What leads over contacts is left to it.
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

-- The document of a person is stored before any other about that person, so nothing has to be added for it.
CREATE OR REPLACE FUNCTION documents_join_paths() RETURNS trigger LANGUAGE plpgsql AS $$
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
