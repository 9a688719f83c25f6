/*
identifier = "EN-103"
short = "A student is enrolled at two schools, each of which may be the primary one"
description = "A student who attends two schools at a time has one primary school. Set primarySchool to false at the other one, or correct the dates of one of the enrollments."
severity = "minor"
category = "Enrollment"
resource = "ed-fi/studentSchoolAssociations"
help_url = "meadowlark/docs/operate/validation.md#en-103"

[parameters]
# Days of overlap that are tolerated.
days = {type = "integer", default = 1}

[incremental]
scope = "student"
watch = ["ed-fi/studentSchoolAssociations"]
*/
WITH enrollment AS (
    SELECT d.id, d.student, d.organization,
           (d.body ->> 'entryDate')::date AS entry_date,
           coalesce((d.body ->> 'exitWithdrawDate')::date, '9999-12-31') AS exit_date
      FROM documents('ed-fi/studentSchoolAssociations') d
     WHERE (d.body -> 'primarySchool') IS DISTINCT FROM 'false'
       AND (:scope IS NULL OR d.student = ANY (:scope))
)
SELECT later.id AS document_id,
       earlier.organization || ' ' || earlier.entry_date AS key,
       jsonb_build_object(
           'entryDate', later.entry_date, 'otherSchoolId', earlier.organization, 'otherEntryDate', earlier.entry_date
       ) AS context,
       ARRAY[earlier.id] AS other_document_ids
  FROM enrollment later
  JOIN enrollment earlier
    ON earlier.student = later.student AND earlier.organization <> later.organization
   AND (earlier.entry_date, earlier.organization) < (later.entry_date, later.organization)
 WHERE least(earlier.exit_date, later.exit_date) - later.entry_date + 1 > :days
