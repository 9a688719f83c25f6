/*
identifier = "EN-102"
short = "A student left a school before the day of entry"
description = "The exit date of an enrollment is not before its entry date. Correct one of them."
severity = "major"
category = "Enrollment"
resource = "ed-fi/studentSchoolAssociations"
help_url = "meadowlark/docs/operate/validation.md#en-102"

[incremental]
scope = "document"
watch = ["ed-fi/studentSchoolAssociations"]
*/
SELECT d.id AS document_id,
       jsonb_build_object(
           'entryDate', d.body ->> 'entryDate', 'exitWithdrawDate', d.body ->> 'exitWithdrawDate'
       ) AS context
  FROM documents('ed-fi/studentSchoolAssociations') d
 WHERE d.body ->> 'exitWithdrawDate' < d.body ->> 'entryDate'
   AND (:scope IS NULL OR d.document_uuid = ANY (:scope))
