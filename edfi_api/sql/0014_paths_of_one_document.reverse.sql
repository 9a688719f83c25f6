CREATE OR REPLACE FUNCTION documents_join_paths() RETURNS trigger LANGUAGE plpgsql AS $$
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
DROP FUNCTION add_paths_of_student;
