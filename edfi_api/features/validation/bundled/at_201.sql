/*
identifier = "AT-201"
short = "Attendance on a day without instruction"
description = "The day of an attendance event is a day of instruction in the calendar of the student's enrollment or, if that names no calendar, in any calendar of the school for that school year. Correct the date, or complete the calendar. Schools without calendar dates are left out."
severity = "minor"
category = "Attendance"
resource = "ed-fi/studentSchoolAttendanceEvents"
help_url = "meadowlark/docs/operate/validation.md#at-201"

[parameters]
# Code values of the calendar events that are days of instruction.
instructional = {type = "texts", default = ["Instructional day", "Make-up day"]}

[incremental]
scope = "student"
watch = [
    "ed-fi/studentSchoolAttendanceEvents", "ed-fi/studentSchoolAssociations", "ed-fi/calendarDates", "ed-fi/calendars"
]
*/
WITH calendar_day AS (
    SELECT d.organization AS school,
           d.body #>> '{calendarReference,schoolYear}' AS school_year,
           d.body #>> '{calendarReference,calendarCode}' AS calendar_code,
           d.body ->> 'date' AS day,
           EXISTS (
               SELECT FROM jsonb_array_elements(d.body -> 'calendarEvents') event
                WHERE split_part(event ->> 'calendarEventDescriptor', '#', 2) = ANY (:instructional)
           ) AS is_instructional
      FROM documents('ed-fi/calendarDates') d
), attendance AS (
    SELECT d.id, d.student, d.organization AS school, d.body ->> 'eventDate' AS day,
           d.body #>> '{sessionReference,schoolYear}' AS school_year
      FROM documents('ed-fi/studentSchoolAttendanceEvents') d
     WHERE :scope IS NULL OR d.student = ANY (:scope)
), named AS (
    SELECT a.id, array_agg(e.body #>> '{calendarReference,calendarCode}') AS calendar_codes
      FROM attendance a
      JOIN documents('ed-fi/studentSchoolAssociations') e ON e.student = a.student AND e.organization = a.school
     WHERE e.body ? 'calendarReference' AND e.opens_pathway
       AND a.day >= e.body ->> 'entryDate' AND a.day <= coalesce(e.body ->> 'exitWithdrawDate', '9999-12-31')
     GROUP BY a.id
)
SELECT a.id AS document_id, jsonb_build_object('eventDate', a.day) AS context
  FROM attendance a
  JOIN (SELECT DISTINCT school, school_year FROM calendar_day) known
    ON known.school = a.school AND known.school_year = a.school_year
  LEFT JOIN named ON named.id = a.id
 WHERE NOT EXISTS (
           SELECT FROM calendar_day c
            WHERE c.school = a.school AND c.school_year = a.school_year AND c.day = a.day AND c.is_instructional
              AND (named.calendar_codes IS NULL OR c.calendar_code = ANY (named.calendar_codes))
       )
