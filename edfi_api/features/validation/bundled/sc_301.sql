/*
identifier = "SC-301"
short = "A section has students, but no staff"
description = "A section of a current session to which students are assigned has at least one staff member. Assign the teacher of record, or end the assignments of the students."
severity = "major"
category = "Scheduling"
resource = "ed-fi/sections"
help_url = "meadowlark/docs/operate/validation.md#sc-301"

[incremental]
scope = "organization"
watch = [
    "ed-fi/sections", "ed-fi/sessions", "ed-fi/studentSectionAssociations", "ed-fi/staffSectionAssociations"
]
*/
WITH current_session AS (
    SELECT d.organization AS school, d.body ->> 'sessionName' AS session_name,
           d.body #>> '{schoolYearTypeReference,schoolYear}' AS school_year
      FROM documents('ed-fi/sessions') d
     WHERE (d.body ->> 'beginDate')::date <= :today AND (d.body ->> 'endDate')::date >= :today
       AND (:scope IS NULL OR d.organization = ANY (:scope))
), section AS (
    SELECT d.id, d.organization AS school, d.body ->> 'sectionIdentifier' AS section_identifier,
           d.body #>> '{courseOfferingReference,localCourseCode}' AS local_course_code, s.session_name, s.school_year
      FROM documents('ed-fi/sections') d
      JOIN current_session s
        ON s.school = d.organization AND s.session_name = d.body #>> '{courseOfferingReference,sessionName}'
       AND s.school_year = d.body #>> '{courseOfferingReference,schoolYear}'
), assigned AS (
    SELECT d.resource_type_id = resource_type_number('ed-fi/staffSectionAssociations') AS is_staff,
           d.organization AS school, d.body #> '{sectionReference}' AS reference
      FROM document d
     WHERE d.resource_type_id IN (
               resource_type_number('ed-fi/studentSectionAssociations'),
               resource_type_number('ed-fi/staffSectionAssociations')
           )
       AND coalesce((d.body ->> 'beginDate')::date, '0001-01-01') <= :today
       AND coalesce((d.body ->> 'endDate')::date, '9999-12-31') >= :today
       AND (:scope IS NULL OR d.organization = ANY (:scope))
), people AS (
    SELECT a.school, a.reference ->> 'sessionName' AS session_name, a.reference ->> 'schoolYear' AS school_year,
           a.reference ->> 'localCourseCode' AS local_course_code,
           a.reference ->> 'sectionIdentifier' AS section_identifier, bool_or(a.is_staff) AS has_staff
      FROM assigned a
     GROUP BY 1, 2, 3, 4, 5
)
SELECT s.id AS document_id
  FROM section s
  JOIN people p USING (school, session_name, school_year, local_course_code, section_identifier)
 WHERE NOT p.has_staff
