/*
identifier = "ST-402"
short = "An enrolled student lacks demographics"
description = "A student who is enrolled has, at the school or at an organization above it, a StudentDemographic with a sex, and with races or the Hispanic/Latino ethnicity. Add what is missing."
severity = "major"
category = "Students"
standards = ["6.1"]
resource = "ed-fi/students"
help_url = "meadowlark/docs/operate/validation.md#st-402"

[incremental]
scope = "student"
watch = [
    "ed-fi/students", "ed-fi/studentSchoolAssociations", "ed-fi/studentDemographics",
    "ed-fi/schools", "ed-fi/localEducationAgencies", "ed-fi/educationServiceCenters", "ed-fi/stateEducationAgencies",
    "ed-fi/educationOrganizationNetworks", "ed-fi/educationOrganizationNetworkAssociations",
    "ed-fi/communityOrganizations", "ed-fi/communityProviders", "ed-fi/postSecondaryInstitutions",
    "ed-fi/organizationDepartments"
]
*/
WITH enrolled AS (
    SELECT d.student, d.organization AS school, array_agg(d.id) AS ids
      FROM documents('ed-fi/studentSchoolAssociations') d
     WHERE (d.body ->> 'entryDate')::date <= :today
       AND coalesce((d.body ->> 'exitWithdrawDate')::date, '9999-12-31') >= :today
       AND (:scope IS NULL OR d.student = ANY (:scope))
     GROUP BY 1, 2
), demographics AS (
    SELECT e.student, e.school, e.ids,
           array_agg(d.id) FILTER (WHERE d.id IS NOT NULL) AS demographic_ids,
           bool_or(d.body ? 'sexDescriptor') AS has_sex,
           bool_or(d.body ? 'hispanicLatinoEthnicity' OR jsonb_array_length(coalesce(d.body -> 'races', '[]')) > 0)
               AS has_race,
           bool_or(
               d.body ? 'sexDescriptor'
               AND (d.body ? 'hispanicLatinoEthnicity' OR jsonb_array_length(coalesce(d.body -> 'races', '[]')) > 0)
           ) AS is_complete
      FROM enrolled e
      LEFT JOIN (
          documents('ed-fi/studentDemographics') d
          JOIN organization_closure above ON above.ancestor_id = d.organization
      ) ON d.student = e.student AND above.descendant_id = e.school
     GROUP BY 1, 2, 3
)
SELECT s.id AS document_id, g.school AS education_organization_id, g.school::text AS key,
       jsonb_build_object('missing', CASE
           WHEN g.demographic_ids IS NULL THEN 'studentDemographic'
           WHEN NOT g.has_sex AND NOT g.has_race THEN 'sexDescriptor, races'
           WHEN NOT g.has_sex THEN 'sexDescriptor'
           WHEN NOT g.has_race THEN 'races'
           ELSE 'sexDescriptor and races at one organization' END
       ) AS context,
       g.ids || coalesce(g.demographic_ids, '{}') AS other_document_ids
  FROM demographics g
  JOIN documents('ed-fi/students') s ON s.student = g.student
 WHERE g.is_complete IS NOT TRUE
