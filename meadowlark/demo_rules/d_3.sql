/*
identifier = "D-3"
short = "A student is too young or too old for school"
description = "A student is between `youngest` and `oldest` years old. Correct the birth date."
severity = "warning"
category = "Students"
resource = "ed-fi/students"

[parameters]
youngest = {type = "integer", default = 2}
oldest = {type = "integer", default = 26}
*/
SELECT d.id AS document_id, jsonb_build_object('birthDate', d.body ->> 'birthDate') AS context
  FROM documents('ed-fi/students') d
 WHERE extract(year FROM age(:today, (d.body ->> 'birthDate')::date)) NOT BETWEEN :youngest AND :oldest
