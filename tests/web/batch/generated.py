"""Operations at random: on a few documents of resources that depend on each other, in every kind and condition."""

from hypothesis import strategies as st

from tests.support.examples import examples
from tests.web.batch.operations import DESCRIPTORS, ED_FI, enrolment, period, school, student

EXAMPLES = examples(12)
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


def agency_category():
    document = {
        "namespace": f"{ED_FI}/LocalEducationAgencyCategoryDescriptor",
        "codeValue": "Regular",
        "shortDescription": "Regular",
    }
    return {"resource": "/ed-fi/localEducationAgencyCategoryDescriptors", "document": document}


def start():
    """What is there before: descriptors, agencies 8 and 9, the schools 1 (of agency 9) and 2, people, periods."""
    below = {"localEducationAgencyReference": {"localEducationAgencyId": 9}}
    organizations = [agency(9), agency(8), school(1, **below), school(2)]
    people = [student(1), student(2), enrolment(1)]
    return [
        *DESCRIPTORS,
        grade_level("Tenth grade", "x"),
        agency_category(),
        *organizations,
        *people,
        period("A"),
        period("B"),
    ]


CHANGES = st.sampled_from([{}, {}, {}, {"webSite": "https://a.example"}, {"webSite": 5}, {"id": "x"}])
GRADES = st.sampled_from(["Ninth grade", "Ninth grade", "NINTH GRADE", "None"]).map(
    lambda name: {"gradeLevels": [{"gradeLevelDescriptor": f"{ED_FI}/GradeLevelDescriptor#{name}"}]}
)
AGENCIES = st.sampled_from(
    [{}, {}, *({"localEducationAgencyReference": {"localEducationAgencyId": n}} for n in (8, 9))]
)
DATES = st.sampled_from([{}, {"birthDate": "2011-01-01"}, {"birthDate": "x"}])

# Not one strategy that is filtered by resource: nine of ten examples would be given up.
WRITES = {
    "/ed-fi/localEducationAgencies": st.builds(
        lambda number, parent, more: agency(number, parent, **more), NUMBERS, st.none() | NUMBERS, CHANGES
    ),
    "/ed-fi/schools": st.builds(
        lambda number, grade, above, more: school(number, **grade, **above, **more), NUMBERS, GRADES, AGENCIES, CHANGES
    ),
    "/ed-fi/students": st.builds(lambda number, more: student(number, **more), NUMBERS, DATES),
    "/ed-fi/studentSchoolAssociations": st.builds(enrolment, NUMBERS, NUMBERS),
    "/ed-fi/classPeriods": st.builds(period, NAMES, NUMBERS),
    "/ed-fi/gradeLevelDescriptors": st.builds(
        grade_level, st.sampled_from(["Ninth grade", "NINTH GRADE", "Tenth grade"]), st.sampled_from("xy")
    ),
}
RESOURCES = st.sampled_from(list(WRITES))
KINDS = st.sampled_from(["upsert", "upsert", "upsert", "create", "update", "delete"])
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


@st.composite
def operations(draw, ids, resource, kind):
    """An operation of this kind; updates and deletes by natural key, or by the id of a document that is stored.

    `ids` are pairs of resource and id.
    """
    write = draw(WRITES[resource])
    operation = {"op": kind} | write | draw(CONDITIONS)
    if kind in ("update", "delete"):
        named = write if draw(_TARGETS) == "own" else draw(WRITES[resource])
        operation["document"].pop("id", None)
        stored = [id_ for of_resource, id_ in ids if of_resource == resource]
        if stored and draw(st.booleans()):
            operation["id"] = draw(st.sampled_from(stored))
        else:
            operation["naturalKey"] = _key_of(named)
    if kind == "delete":
        del operation["document"]
    return operation


@st.composite
def batches(draw, ids):
    """Chunks of one resource, some of one kind."""
    found = []
    for _ in range(draw(st.integers(1, 4))):
        resource, kind = draw(RESOURCES), draw(KINDS)
        found.append(draw(operations(ids, resource, kind)))
        kinds = draw(st.sampled_from([KINDS, st.just(kind)]))
        found += [draw(operations(ids, resource, draw(kinds))) for _ in range(draw(st.integers(0, 6)))]
    return found
