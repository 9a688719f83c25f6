/*
identifier = "SC-302"
short = "A student's assignment to a section does not fit the session or the enrollment"
description = "An assignment to a section begins before its session ends, does not end before it begins, and shares at least one day with an enrollment of the student at the school. Correct its dates, or the enrollment."
severity = "minor"
category = "Scheduling"
resource = "ed-fi/studentSectionAssociations"
help_url = "meadowlark/docs/operate/validation.md#sc-302"

[incremental]
scope = "student"
watch = ["ed-fi/studentSectionAssociations", "ed-fi/studentSchoolAssociations", "ed-fi/sessions"]
*/
WITH assignment AS (
    SELECT d.id, d.student, d.organization AS school, d.body ->> 'beginDate' AS begin_date,
           coalesce(d.body ->> 'endDate', '9999-12-31') AS end_date,
           d.body #>> '{sectionReference,sessionName}' AS session_name,
           d.body #>> '{sectionReference,schoolYear}' AS school_year
      FROM documents('ed-fi/studentSectionAssociations') d
     WHERE :scope IS NULL OR d.student = ANY (:scope)
), judged AS (
    SELECT a.id, a.begin_date > s.body ->> 'endDate' AS is_late, a.end_date < a.begin_date AS is_reversed,
           NOT EXISTS (
               SELECT FROM documents('ed-fi/studentSchoolAssociations') e
                WHERE e.student = a.student AND e.organization = a.school AND e.opens_pathway
                  AND e.body ->> 'entryDate' <= a.end_date
                  AND coalesce(e.body ->> 'exitWithdrawDate', '9999-12-31') >= a.begin_date
           ) AS is_elsewhere
      FROM assignment a
      LEFT JOIN documents('ed-fi/sessions') s
        ON s.organization = a.school AND s.body ->> 'sessionName' = a.session_name
       AND s.body #>> '{schoolYearTypeReference,schoolYear}' = a.school_year
)
SELECT j.id AS document_id,
       jsonb_build_object('reason', concat_ws(
           ', ',
           CASE WHEN j.is_late THEN 'begins after the session' END,
           CASE WHEN j.is_reversed THEN 'ends before it begins' END,
           CASE WHEN j.is_elsewhere THEN 'not enrolled at the school' END
       )) AS context
  FROM judged j
 WHERE j.is_late OR j.is_reversed OR j.is_elsewhere
