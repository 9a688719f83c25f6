/*
identifier = "D-4"
short = "A grade has more points than there are"
description = "A numeric grade is at most `points`. Correct the number."
severity = "minor"
category = "Grades"
resource = "ed-fi/grades"

[parameters]
points = {type = "integer", default = 100}

[incremental]
scope = "student"
watch = ["ed-fi/grades"]
*/
SELECT d.id AS document_id, jsonb_build_object('numericGradeEarned', d.body ->> 'numericGradeEarned') AS context
  FROM documents('ed-fi/grades') d
 WHERE (d.body ->> 'numericGradeEarned')::numeric > :points
   AND (:scope IS NULL OR d.student = ANY (:scope))
