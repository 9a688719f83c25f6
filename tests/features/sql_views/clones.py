"""Many documents in little time: copies of one document of each resource, for plans and benchmarks of views."""

from __future__ import annotations

from typing import Any, Protocol

# The names are those of resources, the values shares of the enrollments.
_SHARES = {
    "Student": 0.4,
    "StudentEducationOrganizationAssociation": 0.3,
    "StudentSchoolAssociation": 1.0,
    "StudentSchoolAttendanceEvent": 0.5,
}
RESOURCES = ("School", *_SHARES)
# A student has up to three enrollments, each at another date.
_CLONE = """
INSERT INTO document (document_uuid, resource_type_id, body, organization, student, opens_pathway, is_person,
                      change_version)
SELECT gen_random_uuid(), m.resource_type_id,
       CASE WHEN m.is_person THEN m.body || jsonb_build_object('studentUniqueId', unique_id)
            ELSE jsonb_set(m.body, '{studentReference,studentUniqueId}', to_jsonb(unique_id))
                 || CASE WHEN m.opens_pathway
                         THEN jsonb_build_object('entryDate', date '2025-08-20' + (n / %(students)s)::integer)
                         ELSE '{}' END END,
       m.organization, unique_id, m.opens_pathway, m.is_person, 1
  FROM (
    SELECT d.* FROM document d JOIN resource_type t ON t.id = d.resource_type_id WHERE t.name = %(name)s LIMIT 1
  ) m
 CROSS JOIN LATERAL generate_series(1, %(rows)s) AS n
 CROSS JOIN LATERAL (SELECT 'B' || n %% %(students)s AS unique_id) AS u
"""
_CLONE_SCHOOLS = """
INSERT INTO document (document_uuid, resource_type_id, body, organization, hierarchy, change_version)
SELECT gen_random_uuid(), m.resource_type_id, m.body || jsonb_build_object('schoolId', i.id),
       i.id, i.id || m.hierarchy[2:], 1
  FROM (
    SELECT d.* FROM document d JOIN resource_type t ON t.id = d.resource_type_id WHERE t.name = 'School' LIMIT 1
  ) m
 CROSS JOIN LATERAL generate_series(1, %s) AS n CROSS JOIN LATERAL (SELECT 770000001 + n AS id) AS i
"""
# The clones belong to many schools.
_SPREAD = """
UPDATE document SET organization = 770000001 + id %% %s WHERE student LIKE 'B%%' AND organization IS NOT NULL
"""


class Cursor(Protocol):
    """One of psycopg or of Django."""

    def execute(self, statement: str, parameters: Any = None, /) -> object: ...


def clone(cursor: Cursor, enrollments: int, schools: int) -> None:
    """Clone documents without triggers, foreign keys and the index for query by example, which no view uses."""
    cursor.execute("SET session_replication_role = replica")
    cursor.execute("DROP INDEX document_scoped_body")
    students = max(int(enrollments * _SHARES["Student"]), 1)
    for name, share in _SHARES.items():
        cursor.execute(_CLONE, {"name": name, "rows": int(enrollments * share), "students": students})
    cursor.execute(_CLONE_SCHOOLS, [schools])
    cursor.execute(_SPREAD, [schools])
    cursor.execute("RESET session_replication_role")
