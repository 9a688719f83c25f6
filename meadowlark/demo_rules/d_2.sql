/*
identifier = "D-2"
short = "Two students have the same names and birth date"
description = "A person is one student. Move what refers to the second one, then delete it."
severity = "major"
category = "Students"
resource = "ed-fi/students"
*/
WITH student AS (
    SELECT d.id, d.student,
           jsonb_build_array(d.body -> 'firstName', d.body -> 'lastSurname', d.body -> 'birthDate') AS person
      FROM documents('ed-fi/students') d
)
SELECT later.id AS document_id, earlier.student AS key, ARRAY[earlier.id] AS other_document_ids,
       jsonb_build_object('otherStudentUniqueId', earlier.student) AS context
  FROM student later
  JOIN student earlier ON earlier.person = later.person AND earlier.id < later.id
