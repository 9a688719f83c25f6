/*
identifier = "PR-501"
short = "A special education program has wrong dates, or a student who is not enrolled"
description = "While a special education program is open, its IEP does not end before it begins, is reviewed in time, and the student is enrolled at or below the organization. Correct the dates, record the review, or end the association."
severity = "minor"
category = "Programs"
resource = "ed-fi/studentSpecialEducationProgramAssociations"
help_url = "meadowlark/docs/operate/validation.md#pr-501"

[parameters]
# Days after which the IEP has to be reviewed again.
days = {type = "integer", default = 365}

[incremental]
scope = "student"
watch = [
    "ed-fi/studentSpecialEducationProgramAssociations", "ed-fi/studentSchoolAssociations",
    "ed-fi/schools", "ed-fi/localEducationAgencies", "ed-fi/educationServiceCenters", "ed-fi/stateEducationAgencies",
    "ed-fi/educationOrganizationNetworks", "ed-fi/educationOrganizationNetworkAssociations",
    "ed-fi/communityOrganizations", "ed-fi/communityProviders", "ed-fi/postSecondaryInstitutions",
    "ed-fi/organizationDepartments"
]
*/
WITH judged AS (
    SELECT d.id,
           d.body ->> 'iepEndDate' < d.body ->> 'iepBeginDate' AS is_reversed,
           coalesce(d.body ->> 'iepReviewDate', d.body ->> 'iepLastReviewDate')::date < :today - :days::integer AS is_overdue,
           NOT EXISTS (
               SELECT FROM documents('ed-fi/studentSchoolAssociations') e
                 JOIN organization_closure c ON c.descendant_id = e.organization
                WHERE e.student = d.student AND c.ancestor_id = d.organization AND e.opens_pathway
                  AND (e.body ->> 'entryDate')::date <= :today
                  AND coalesce((e.body ->> 'exitWithdrawDate')::date, '9999-12-31') >= :today
           ) AS is_elsewhere
      FROM documents('ed-fi/studentSpecialEducationProgramAssociations') d
     WHERE (d.body ->> 'beginDate')::date <= :today
       AND coalesce((d.body ->> 'endDate')::date, '9999-12-31') >= :today
       AND (:scope IS NULL OR d.student = ANY (:scope))
)
SELECT j.id AS document_id,
       jsonb_build_object('reason', concat_ws(
           ', ',
           CASE WHEN j.is_reversed THEN 'the IEP ends before it begins' END,
           CASE WHEN j.is_overdue THEN 'the review is overdue' END,
           CASE WHEN j.is_elsewhere THEN 'not enrolled at or below the organization' END
       )) AS context
  FROM judged j
 WHERE j.is_reversed OR j.is_overdue OR j.is_elsewhere
