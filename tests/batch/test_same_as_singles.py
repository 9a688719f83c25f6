"""A batch in given order has the answers, and leaves the tables, of single requests one after the other."""

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from edfi_api.models import Document
from tests.batch.both_ways import both_ways
from tests.batch.conftest import DESCRIPTORS, ED_FI, enrolment, period, school, student

AGENCY_CATEGORY = f"{ED_FI}/LocalEducationAgencyCategoryDescriptor#Regular"
NUMBERS = st.integers(1, 3)
NAMES = st.sampled_from("ABC")


def agency(number: int, parent: int | None = None, **changes):
    document = {
        "localEducationAgencyId": number,
        "nameOfInstitution": f"Agency {number}",
        "categories": [
            {"educationOrganizationCategoryDescriptor": f"{ED_FI}/EducationOrganizationCategoryDescriptor#School"}
        ],
        "localEducationAgencyCategoryDescriptor": AGENCY_CATEGORY,
    }
    if parent is not None:
        document["parentLocalEducationAgencyReference"] = {"localEducationAgencyId": parent}
    return {"resource": "/ed-fi/localEducationAgencies", "document": document | changes}


def grade_level(code_value: str, text: str):
    document = {"namespace": f"{ED_FI}/GradeLevelDescriptor", "codeValue": code_value, "shortDescription": text}
    return {"resource": "/ed-fi/gradeLevelDescriptors", "document": document}


CHANGES = st.sampled_from([{}, {}, {}, {"webSite": "https://a.example"}, {"webSite": 5}, {"id": "x"}])
GRADES = st.sampled_from(["Ninth grade", "Ninth grade", "NINTH GRADE", "None"]).map(
    lambda name: {"gradeLevels": [{"gradeLevelDescriptor": f"{ED_FI}/GradeLevelDescriptor#{name}"}]}
)
DATES = st.sampled_from([{}, {"birthDate": "2011-01-01"}, {"birthDate": "x"}])

WRITES = st.one_of(
    st.builds(lambda number, parent, more: agency(number, parent, **more), NUMBERS, st.none() | NUMBERS, CHANGES),
    st.builds(lambda number, grade, more: school(number, **grade, **more), NUMBERS, GRADES, CHANGES),
    st.builds(lambda number, more: student(number, **more), NUMBERS, DATES),
    st.builds(enrolment, NUMBERS, NUMBERS),
    st.builds(period, NAMES, NUMBERS),
    st.builds(grade_level, st.sampled_from(["Ninth grade", "NINTH GRADE", "Tenth grade"]), st.sampled_from("xy")),
)
_KEYS = {
    "/ed-fi/localEducationAgencies": ["localEducationAgencyId"],
    "/ed-fi/schools": ["schoolId"],
    "/ed-fi/students": ["studentUniqueId"],
    "/ed-fi/studentSchoolAssociations": ["studentUniqueId", "schoolId", "entryDate"],
    "/ed-fi/classPeriods": ["classPeriodName", "schoolId"],
    "/ed-fi/gradeLevelDescriptors": ["namespace", "codeValue"],
}
# Of other documents than the operation's own: a change of the key, where it is possible at all.
_TARGETS = st.sampled_from(["own", "own", "own", "another"])
CONDITIONS = st.sampled_from([{}, {}, {}, {}, {"ifMatch": "*"}, {"ifNoneMatch": "*"}, {"ifMatch": '"1-l"'}])


def _key_of(write):
    body = write["document"]
    values = {name: value for each in body.values() if isinstance(each, dict) for name, value in each.items()} | body
    return {name: values[name] for name in _KEYS[write["resource"]]}


def _of(resource):
    return lambda operation: operation["resource"] == resource


@st.composite
def operations(draw, ids):
    """An operation of any kind; updates and deletes by natural key, or by the id of a document that is stored."""
    write = draw(WRITES)
    kind = draw(st.sampled_from(["upsert", "upsert", "upsert", "create", "update", "delete"]))
    operation = {"op": kind} | write | draw(CONDITIONS)
    if kind in ("update", "delete"):
        named = (
            write
            if draw(_TARGETS) == "own"
            else draw(WRITES.filter(lambda each: each["resource"] == write["resource"]))
        )
        operation["document"].pop("id", None)
        stored = [id_ for resource, id_ in ids if resource == write["resource"]]
        if stored and draw(st.booleans()):
            operation["id"] = draw(st.sampled_from(stored))
        else:
            operation["naturalKey"] = _key_of(named)
    if kind == "delete":
        del operation["document"]
    return operation


@st.composite
def batches(draw, ids):
    """Stretches of one resource, and operations of any."""
    one = operations(ids)
    found = []
    for _ in range(draw(st.integers(1, 4))):
        first = draw(one)
        found.append(first)
        for _ in range(draw(st.integers(0, 6))):
            found.append(draw(one.filter(_of(first["resource"]))))
    return found


# To shrink a failing batch takes minutes.
_PHASES = (Phase.explicit, Phase.generate)


@pytest.fixture
def ids(batch):
    """Resource and id of the documents that are stored."""
    start = [
        *DESCRIPTORS,
        grade_level("Tenth grade", "x"),
        agency_category(),
        agency(9),
        school(1),
        school(2),
        student(1),
    ]
    batch.results([*start, student(2), enrolment(1), period("A"), period("B")])
    documents = Document.objects.select_related("resource_type")
    return [(f"/ed-fi/{each.resource_type.endpoint}", str(each.document_uuid)) for each in documents]


def agency_category():
    document = {
        "namespace": f"{ED_FI}/LocalEducationAgencyCategoryDescriptor",
        "codeValue": "Regular",
        "shortDescription": "Regular",
    }
    return {"resource": "/ed-fi/localEducationAgencyCategoryDescriptors", "document": document}


@settings(max_examples=40, deadline=None, phases=_PHASES, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_any_batch_has_the_answers_and_leaves_the_tables_of_single_requests(data, batch, ids, preparers):
    sent = data.draw(batches(ids))

    alone, together = both_ways(batch, sent, preparers)

    assert together == alone


@settings(max_examples=10, deadline=None, phases=_PHASES, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_an_atomic_batch_writes_what_single_requests_write_or_nothing(data, batch, ids, preparers):
    sent = data.draw(batches(ids))

    (answers, tables), (answer, left) = both_ways(batch, sent, preparers, mode="atomic")

    if all(status < 300 for status, _ in answers):
        assert (answer, left) == (answers, tables)
    else:
        (_, before), _ = both_ways(batch, [], preparers)
        assert left == before
        _, problem = answer
        refused = [position for position, (status, _) in enumerate(answers) if status >= 300]
        assert sorted(each["index"] for each in problem["failedOperations"]) == refused
