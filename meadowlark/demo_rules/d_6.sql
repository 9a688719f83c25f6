/*
identifier = "D-6"
short = "An enrolled student has no contact"
description = "Somebody can be called for every student who is enrolled. Add a contact."
severity = "minor"
category = "Students"
standards = ["3.3.1-b", "4.0"]
resource = "ed-fi/students"

[incremental]
scope = "student"
watch = ["ed-fi/students", "ed-fi/studentSchoolAssociations", "ed-fi/studentParentAssociations"]
*/
SELECT d.id AS document_id
  FROM documents('ed-fi/students') d
 WHERE (:scope IS NULL OR d.student = ANY (:scope))
   AND EXISTS (
           SELECT FROM documents('ed-fi/studentSchoolAssociations') e
            WHERE e.student = d.student AND e.opens_pathway
              AND (e.body ->> 'entryDate')::date <= :today
              AND coalesce((e.body ->> 'exitWithdrawDate')::date, '9999-12-31') >= :today
       )
   AND NOT EXISTS (SELECT FROM documents('ed-fi/studentParentAssociations') c WHERE c.student = d.student)
