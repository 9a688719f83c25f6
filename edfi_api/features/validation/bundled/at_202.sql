/*
identifier = "AT-202"
short = "Attendance of a student who was not enrolled at the school that day"
description = "A student has attendance at a school only while enrolled there. Correct the date of the event, or the dates of the enrollment."
severity = "major"
category = "Attendance"
resource = "ed-fi/studentSchoolAttendanceEvents"
help_url = "meadowlark/docs/operate/validation.md#at-202"

[incremental]
scope = "student"
watch = ["ed-fi/studentSchoolAttendanceEvents", "ed-fi/studentSchoolAssociations"]
*/
SELECT d.id AS document_id, jsonb_build_object('eventDate', d.body ->> 'eventDate') AS context
  FROM documents('ed-fi/studentSchoolAttendanceEvents') d
 WHERE (:scope IS NULL OR d.student = ANY (:scope))
   AND NOT EXISTS (
       SELECT FROM documents('ed-fi/studentSchoolAssociations') e
        WHERE e.student = d.student AND e.organization = d.organization AND e.opens_pathway
          AND d.body ->> 'eventDate' >= e.body ->> 'entryDate'
          AND d.body ->> 'eventDate' <= coalesce(e.body ->> 'exitWithdrawDate', '9999-12-31')
   )
