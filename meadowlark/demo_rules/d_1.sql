/*
identifier = "D-1"
short = "A student has no enrollment"
description = "Every student has been enrolled at a school. Enroll the student, or delete the document."
severity = "warning"
category = "Students"
resource = "ed-fi/students"

[incremental]
scope = "student"
watch = ["ed-fi/students", "ed-fi/studentSchoolAssociations"]
*/
SELECT d.id AS document_id
  FROM documents('ed-fi/students') d
 WHERE (:scope IS NULL OR d.student = ANY (:scope))
   AND NOT EXISTS (
           SELECT FROM documents('ed-fi/studentSchoolAssociations') e
            WHERE e.student = d.student AND e.opens_pathway
       )
