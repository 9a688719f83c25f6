"""A bulk write has the results, and leaves the rows, of writing the same documents one after the other."""

from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from edfi_api.core.documents.exceptions import ClientAssignedId, DataValidationFailed
from edfi_api.core.models import Document
from edfi_api.core.storage.exceptions import IdentityConflict
from edfi_api.core.storage.integrity import disagreements
from edfi_api.core.storage.stored import Outcome
from edfi_api.features.loading.bulk import preparation, write_documents
from references.exceptions import MissingTarget, UnresolvedReference
from tests.features.loading.bulk.both_ways import both_ways
from tests.features.loading.bulk.conftest import ED_FI, GRADE
from tests.support.examples import examples

EXAMPLES = examples(20)
INSERTED, UPDATED, UNCHANGED = Outcome.INSERTED, Outcome.UPDATED, Outcome.UNCHANGED


@pytest.fixture
def load(db, district, validators):
    """Writes candidates behind the district's descriptors and gives their results; all rows must agree then."""

    def write(*candidates):
        assert {written.result for written in write_documents(district.descriptors())} <= {INSERTED, UNCHANGED}
        results = [written.result for written in write_documents(candidates)]
        assert list(disagreements(validators, "default")) == []
        return results

    return write


def bodies(resource):
    return list(Document.objects.filter(resource_type__name=resource).order_by("id").values_list("body", flat=True))


def test_inserted_updated_and_unchanged_documents_are_distinguished(load, district):
    load(district.school(1), district.school(2))

    assert load(district.school(1), district.school(2, webSite="https://two.example"), district.school(3)) == [
        UNCHANGED,
        UPDATED,
        INSERTED,
    ]


def test_what_is_unchanged_keeps_its_version_and_what_is_written_gets_a_new_one(load, district):
    load(district.school(1), district.school(2))
    before = dict(Document.objects.values_list("natural_key", "change_version"))

    load(district.school(1), district.school(2, webSite="https://two.example"))

    after = dict(Document.objects.values_list("natural_key", "change_version"))
    assert after["NK#schoolId=1"] == before["NK#schoolId=1"]
    assert after["NK#schoolId=2"] > max(before.values())


def test_the_last_of_three_versions_of_a_document_is_stored(load, district):
    first, second = district.school(1, webSite="https://first.example"), district.school(1)

    assert load(first, second, second, first) == [INSERTED, UPDATED, UNCHANGED, UPDATED]
    assert [body["webSite"] for body in bodies("School")] == ["https://first.example"]


COHORT = {
    "cohortIdentifier": "Chess club",
    "cohortTypeDescriptor": "x#Club",
    "educationOrganizationReference": {"educationOrganizationId": 1},
}


def test_a_row_may_refer_to_an_earlier_one_of_its_batch_and_to_itself(load, district):
    assert load(district.agency(1), district.agency(2, parent=1), district.agency(3, parent=3)) == [INSERTED] * 3


def test_a_row_that_refers_to_a_later_one_is_unresolved(load, district):
    child, parent = district.agency(2, parent=1), district.agency(1)

    results = load(child, parent, child)

    missing = MissingTarget("$.parentLocalEducationAgencyReference", "LocalEducationAgency")
    assert results == [UnresolvedReference(documents=[missing]), INSERTED, INSERTED]


def test_what_is_refused_provides_nothing(load, district):
    results = load(district.agency(2, parent=1), district.agency(3, parent=2))

    assert [type(result) for result in results] == [UnresolvedReference, UnresolvedReference]
    assert bodies("LocalEducationAgency") == []


def test_all_missing_targets_of_a_row_are_named(load, district):
    results = load(district.school(1), district.schedule("A", "no such", "nor this"), district.school(2, grade="x#y"))

    assert results[1] == UnresolvedReference(
        documents=[
            MissingTarget("$.classPeriods[0].classPeriodReference", "ClassPeriod"),
            MissingTarget("$.classPeriods[1].classPeriodReference", "ClassPeriod"),
        ]
    )
    assert results[2] == UnresolvedReference(
        descriptors=[MissingTarget("$.gradeLevels[0].gradeLevelDescriptor", "GradeLevelDescriptor", "x#y", False)]
    )


def test_a_descriptor_in_the_key_of_a_missing_target_is_named_with_the_reference(load, district):
    program = {"educationOrganizationId": 1, "programName": "Chess", "programTypeDescriptor": "x#None"}

    (result,) = load(district.candidate("Cohort", COHORT | {"programs": [{"programReference": program}]}))

    assert result == UnresolvedReference(
        documents=[
            MissingTarget("$.educationOrganizationReference", "EducationOrganization"),
            MissingTarget("$.programs[0].programReference", "Program"),
        ],
        descriptors=[
            MissingTarget("$.cohortTypeDescriptor", "CohortTypeDescriptor", "x#Club", False),
            MissingTarget("$.programs[0].programReference.programTypeDescriptor", "ProgramTypeDescriptor", "x#None"),
        ],
    )


def test_a_school_with_the_number_of_an_agency_is_an_identity_conflict(load, district):
    load(district.agency(7))

    conflict, other = load(district.school(7), district.school(8))

    assert conflict == IdentityConflict(district.school(7).resource, [("schoolId", "7")], is_new=True)
    assert other is INSERTED


def test_invalid_bodies_are_refused_and_stop_nothing(load, district):
    results = load(district.school("x"), district.school(1, id="0"), district.school(2))

    assert [type(result) for result in results[:2]] == [DataValidationFailed, ClientAssignedId]
    assert results[2] is INSERTED


def test_descriptors_in_keys_take_the_stored_casing(load, district):
    odd = GRADE.upper()

    assert load(district.school(1, grade=odd), district.school(1)) == [INSERTED, UNCHANGED]
    assert bodies("School")[0]["gradeLevels"] == [{"gradeLevelDescriptor": GRADE}]


def test_references_follow_an_update(load, district):
    periods = [district.period(name) for name in ("one", "two", "three")]
    load(district.school(1), *periods, district.schedule("A", "one", "two"))

    assert load(district.schedule("A", "two", "three")) == [UPDATED]


def test_numbers_and_text_are_stored_exactly(load, district):
    text = 'tab\there, \\N, \\. and "quotes"\nnew line\r\x1f ☃ 🏫 {a,b}'

    assert load(district.school(1, nameOfInstitution=text[:75])) == [INSERTED]
    assert bodies("School")[0]["nameOfInstitution"] == text[:75]


NUMBERS = st.integers(1, 3)
NAMES = st.sampled_from(["A", "B", "C"])
GRADES = st.sampled_from([GRADE, GRADE.upper(), f"{ED_FI}/GradeLevelDescriptor#None", f"{ED_FI}/SexDescriptor#Female"])


def _groups(district):
    """Documents of one resource, many of which cannot be written or are written more than once."""
    optional = st.none() | NUMBERS
    changes = st.sampled_from([{}, {}, {"webSite": "https://a.example"}, {"webSite": 5}, {"id": "x"}])
    agency = st.builds(lambda number, parent, more: district.agency(number, parent, **more), NUMBERS, optional, changes)
    school = st.builds(
        lambda number, grade, agency, more: district.school(number, grade, agency, **more),
        NUMBERS,
        GRADES,
        optional,
        changes,
    )
    period = st.builds(district.period, NAMES, NUMBERS)
    schedule = st.builds(
        lambda name, periods, school: district.schedule(name, *periods, school=school),
        NAMES,
        st.lists(NAMES, max_size=3, unique=True),
        NUMBERS,
    )
    descriptor = st.builds(
        lambda code, text: district.descriptor("GradeLevelDescriptor", code, shortDescription=text),
        st.sampled_from(["Ninth grade", "NINTH GRADE", "Tenth grade"]),
        st.sampled_from(["x", "y"]),
    )
    return st.one_of(
        *(st.lists(kind, min_size=1, max_size=8) for kind in (agency, school, period, schedule, descriptor))
    )


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_load_has_the_result_of_one_after_the_other(data, db, district, validators):
    groups = data.draw(st.lists(_groups(district), min_size=1, max_size=8))
    candidates = [*district.descriptors(), *(candidate for group in groups for candidate in group)]
    size = data.draw(st.sampled_from([2, 5, preparation.MOST_DOCUMENTS]), "documents in a batch")

    with patch.object(preparation, "MOST_DOCUMENTS", size):
        alone, bulk = both_ways(candidates, validators)

    assert bulk == alone
