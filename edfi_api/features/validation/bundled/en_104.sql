/*
identifier = "EN-104"
short = "An exit date without a reason, or a reason without an exit date"
description = "A student who has left a school has both an exit date and an exit type. Add what is missing."
severity = "warning"
category = "Enrollment"
resource = "ed-fi/studentSchoolAssociations"
help_url = "meadowlark/docs/operate/validation.md#en-104"

[incremental]
scope = "document"
watch = ["ed-fi/studentSchoolAssociations"]
*/
SELECT d.id AS document_id,
       jsonb_build_object(
           'missing',
           CASE WHEN d.body ? 'exitWithdrawDate' THEN 'exitWithdrawTypeDescriptor' ELSE 'exitWithdrawDate' END
       ) AS context
  FROM documents('ed-fi/studentSchoolAssociations') d
 WHERE (d.body ? 'exitWithdrawDate') <> (d.body ? 'exitWithdrawTypeDescriptor')
   AND (:scope IS NULL OR d.document_uuid = ANY (:scope))
