/*
identifier = "EN-101"
short = "Two enrollments of a student at one school overlap"
description = "A student is enrolled at a school once at a time. Correct the entry date of this enrollment, or the exit date of the earlier one."
severity = "major"
category = "Enrollment"
resource = "ed-fi/studentSchoolAssociations"
help_url = "meadowlark/docs/operate/validation.md#en-101"

[incremental]
scope = "student"
watch = ["ed-fi/studentSchoolAssociations"]
*/
WITH enrollment AS (
    SELECT d.id, d.student, d.organization,
           d.body ->> 'entryDate' AS entry_date, d.body ->> 'exitWithdrawDate' AS exit_date
      FROM documents('ed-fi/studentSchoolAssociations') d
     WHERE :scope IS NULL OR d.student = ANY (:scope)
)
SELECT later.id AS document_id,
       earlier.entry_date AS key,
       jsonb_build_object(
           'entryDate', later.entry_date, 'otherEntryDate', earlier.entry_date, 'otherExitWithdrawDate', earlier.exit_date
       ) AS context,
       ARRAY[earlier.id] AS other_document_ids
  FROM enrollment later
  JOIN enrollment earlier
    ON earlier.student = later.student AND earlier.organization = later.organization
   AND earlier.entry_date < later.entry_date
 WHERE earlier.exit_date IS NULL OR earlier.exit_date >= later.entry_date
