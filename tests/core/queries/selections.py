"""Random selections of documents of a `district`, with their documents by a plain query, for property tests."""

from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime

from django.db import connection
from django.http import QueryDict
from hypothesis import strategies as st

from edfi_api.core.queries.plan import Limits
from edfi_api.core.queries.query_by_example import QueryByExample
from edfi_api.core.queries.selection import LAST_ROW, LAST_VERSION, Order, Selection, Window, all_documents
from edfi_api.core.security.authenticated_client import AuthenticatedClient
from edfi_api.core.security.exceptions import StrategyNotApplicable
from edfi_api.core.security.strategies.combined import ClientPolicy, CombinedStrategies
from edfi_api.core.security.strategies.strategy import Subject
from edfi_api.core.served import current_surface
from edfi_api.core.storage.row_policy import RowPolicy
from edfi_api.model.surface.resource import Resource, ResourceName
from tests.tools.seeding import district

CATEGORY = "uri://ed-fi.org/AttendanceEventCategoryDescriptor#Tardy"
GRADE = "uri://ed-fi.org/GradeLevelDescriptor#Ninth grade"
SCHOOLS = [str(district.school_id(number)) for number in (1, 2, 3, 999)]
STUDENTS = [district.student_unique_id(school, student) for school, student in ((1, 0), (2, 7), (999, 1))]

# Resource → query field → its path in the body, and values of all, many, few or no documents.
FIELDS: dict[str, dict[str, tuple[str, list[str]]]] = {
    "StudentSchoolAttendanceEvent": {
        "schoolId": ("schoolReference,schoolId", SCHOOLS),
        "studentUniqueId": ("studentReference,studentUniqueId", STUDENTS),
        "schoolYear": ("sessionReference,schoolYear", [str(district.YEAR), "1999"]),
        "attendanceEventReason": ("attendanceEventReason", [district.REASON, "None of these"]),
        "attendanceEventCategoryDescriptor": ("attendanceEventCategoryDescriptor", [CATEGORY]),
    },
    "StudentSchoolAssociation": {
        "schoolId": ("schoolReference,schoolId", SCHOOLS),
        "studentUniqueId": ("studentReference,studentUniqueId", STUDENTS),
        "entryGradeLevelDescriptor": ("entryGradeLevelDescriptor", [GRADE]),
    },
    "StudentContactAssociation": {
        "studentUniqueId": ("studentReference,studentUniqueId", STUDENTS),
        "contactUniqueId": ("contactReference,contactUniqueId", STUDENTS),
    },
    "Student": {
        "studentUniqueId": ("studentUniqueId", STUDENTS),
        "lastSurname": ("lastSurname", ["Last5", "Ortiz"]),
    },
    "CourseOffering": {
        "schoolId": ("schoolReference,schoolId", SCHOOLS),
        "localCourseCode": ("localCourseCode", ["C3", "None"]),
    },
    "School": {
        "schoolId": ("schoolId", SCHOOLS),
        "localEducationAgencyId": (
            "localEducationAgencyReference,localEducationAgencyId",
            [str(district.agency_id(1)), "2"],
        ),
    },
    "GradeLevelDescriptor": {
        "namespace": ("namespace", ["uri://ed-fi.org/GradeLevelDescriptor", "uri://ed-fi.org"]),
        "codeValue": ("codeValue", ["Ninth grade"]),
    },
}
POLICIES: list[tuple[str, ...]] = [
    (),
    ("RelationshipsWithEdOrgsOnly",),
    ("RelationshipsWithEdOrgsAndPeople",),
    ("RelationshipsWithStudentsOnly",),
    ("RelationshipsWithEdOrgsOnlyInverted",),
    ("RelationshipsWithEdOrgsOnly", "RelationshipsWithStudentsOnly"),
    ("NamespaceBased",),
    ("OwnershipBased",),
    ("OwnershipBased", "RelationshipsWithEdOrgsAndPeople"),
]
# Without organizations, collections are refused where relationships are compared; 999 reaches no document.
CLAIMS = [(1,), (district.school_id(1),), (district.school_id(3),), (1, district.school_id(2)), (999,)]
PREFIXES = ("uri://ed-fi.org", "uri://other.example")
OWNER = 1

FEW_ROWS = Limits(near_rows=8, near_rows_of_value=4, sampled_rows=3, path_rows=5, near_rows_of_policy=3)
NO_ROWS = Limits(near_rows=1, near_rows_of_value=1, sampled_rows=0, path_rows=1, near_rows_of_policy=0)
LIMITS = st.sampled_from([FEW_ROWS, NO_ROWS, Limits()])

SIZES = st.integers(0, 8) | st.just(500)
OFFSETS = st.just(0) | st.integers(0, 30) | st.sampled_from([590, 2_600, LAST_ROW - 500])


@dataclass(frozen=True)
class Drawn:
    """A selection, and its conditions in plain SQL."""

    selection: Selection
    where: str
    parameters: dict[str, object]

    def ids(self, size: int, offset: int) -> list[int]:
        """The row ids of a page."""
        order = f"ORDER BY d.{self.selection.order.value} LIMIT {size} OFFSET {offset}"
        return [row[0] for row in self._rows(f"SELECT d.id FROM document d WHERE {self.where} {order}")]

    def count(self) -> int:
        """The number of all documents."""
        [(number,)] = self._rows(f"SELECT count(*) FROM document d WHERE {self.where}")
        return number

    def _rows(self, query: str) -> list[tuple[int, ...]]:
        with connection.cursor() as cursor:
            cursor.execute(query, self.parameters)
            return cursor.fetchall()


@st.composite
def selections(draw: st.DrawFn, rows: tuple[int, ...]) -> Drawn:
    """Any selection; `rows` are row ids at which ranges start and end."""
    name = draw(st.sampled_from(sorted(FIELDS)))
    resource = current_surface().by_name[ResourceName("Ed-Fi", name)]
    selection = all_documents(resource, "default")
    conditions, parameters = ["d.resource_type_id = %(type)s"], {"type": selection.resource_type}

    names = draw(st.just(set()) | st.sets(st.sampled_from(sorted(FIELDS[name])), max_size=3))
    query = QueryDict(mutable=True)
    for number, field in enumerate(sorted(names)):
        path, values = FIELDS[name][field]
        query[field] = parameters[f"value_{number}"] = draw(st.sampled_from(values))
        conditions.append(f"d.body #>> '{{{path}}}' = %(value_{number})s")
    selection = QueryByExample(resource).narrow(selection, query)

    policy = _policy(resource, draw(st.sampled_from(POLICIES)), draw(st.sampled_from(CLAIMS)))
    if policy is not None:
        selection = selection.restricted_by(policy)
        conditions.append(f"({policy.using.text})")
        parameters |= policy.using.parameters

    if draw(st.booleans()):
        first, last = sorted(draw(st.tuples(st.sampled_from(rows), st.sampled_from(rows))))
        selection = selection.between(first, draw(st.sampled_from([last, LAST_ROW])))
    first, last = draw(st.sampled_from([(0, LAST_VERSION)] * 2 + [(rows[1], LAST_VERSION), (rows[1], 2 * rows[-2])]))
    selection = selection.within(Window(first, last))
    if selection.last_row == LAST_ROW and selection.first_row == 0 and draw(st.booleans()):
        selection = selection.ordered_by(Order.CHANGE_VERSION)
    conditions.append("d.id BETWEEN %(first_row)s AND %(last_row)s")
    conditions.append("d.change_version BETWEEN %(first_version)s AND %(last_version)s")
    parameters |= {"first_row": selection.first_row, "last_row": selection.last_row}
    parameters |= {"first_version": first, "last_version": last}
    return Drawn(selection, " AND ".join(conditions), parameters)


def _policy(resource: Resource, names: tuple[str, ...], organizations: tuple[int, ...]) -> RowPolicy | None:
    """The policy of a client; None without strategies, or if one of them does not apply to the resource."""
    client = AuthenticatedClient(
        row_id=OWNER,
        key="",
        name="",
        claim_set_id=0,
        claim_set_name="",
        claims_version=0,
        education_organization_ids=organizations,
        namespace_prefixes=PREFIXES,
        token_expires=datetime.now(UTC),
    )
    with suppress(StrategyNotApplicable):
        combined = CombinedStrategies(names, Subject(resource, current_surface(), is_for_changes=False))
        return ClientPolicy(combined, client, "default") if combined.strategies else None
    return None
