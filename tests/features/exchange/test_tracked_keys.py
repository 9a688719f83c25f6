"""Keys as a source lists them with deletes and key changes, of every resource."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from edfi_api.core.documents.exceptions import DataValidationFailed
from edfi_api.core.documents.paths import values_at
from edfi_api.core.models import Document
from edfi_api.features.exchange.models import Connection, ExchangePosition
from edfi_api.features.exchange.pull.pulling import Pulled
from edfi_api.features.exchange.pull.tracked_keys import TrackedKeys
from edfi_api.features.exchange.remote_api import RemoteFailed
from edfi_api.features.exchange.resource_selection import DescriptorMapping
from edfi_api.features.refusals.models import Refusal
from edfi_api.model.surface.resource import QueryType, Surface
from tests.features.exchange.cascading_source import CascadingSource
from tests.features.exchange.district import District
from tests.features.exchange.reference_source import ReferenceSource, Stored
from tests.support.databases import DOCUMENTS
from tests.support.examples import examples
from tests.support.factories import DocumentFactory
from tests.support.serving import LAKE_COUNTY, SERVED_BY_DEFAULT, STANDARDS, Served, served

EXAMPLES = examples(10)
Connect = Callable[..., Connection]
Pull = Callable[..., Pulled]


@pytest.fixture(params=[*((name,) for name in STANDARDS), (SERVED_BY_DEFAULT, LAKE_COUNTY)], ids=str)
def any_served(request: pytest.FixtureRequest) -> Served:
    return served(*request.param)


def test_every_key_is_read_back(any_served: Served) -> None:
    keys = TrackedKeys(any_served.surface, any_served.validators, DescriptorMapping())
    wrong = []
    for resource in any_served.surface.resources:
        if resource.is_read_only:
            continue
        body = any_served.documents.minimal_body(resource)
        listed = {field.name: values_at(body, path.steps)[0][1] for field, path in resource.key_fields}

        key = keys.read(resource, listed)

        own = any_served.validators[resource.name].extractor.identity(body).referential_id
        if keys.id_of(resource, key) != own or any(not values_at(key, path.steps) for path in resource.identity):
            wrong.append(resource.url_path)
    assert wrong == []


_VALUES = {
    QueryType.NUMBER: st.integers(1, 9_999),
    QueryType.DATE: st.dates().map(str),
    QueryType.BOOLEAN: st.booleans(),
    QueryType.DESCRIPTOR: st.sampled_from(
        ["uri://ed-fi.org/A#1", "uri://Ed-Fi.org/b#Two words", "uri://ed-fi.org/C#Ä"]
    ),
}


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_any_values_are_read_back_into_a_key_that_agrees_with_itself(any_served: Served, data: st.DataObject) -> None:
    keys = TrackedKeys(any_served.surface, any_served.validators, DescriptorMapping())
    resources = [each for each in any_served.surface.resources if len(each.key_fields) > 1 and not each.is_descriptor]
    resource = data.draw(st.sampled_from(resources))
    listed = {
        field.name: data.draw(_VALUES.get(field.type, st.text("abÄ #=~", min_size=1, max_size=5)))
        for field, _ in resource.key_fields
    }

    key = keys.read(resource, listed)

    assert {path: values_at(key, path.steps)[0][1] for _, path in resource.key_fields} == {
        path: listed[field.name] for field, path in resource.key_fields
    }
    for each in resource.equality_constraints:
        values = {value for path in (each.source, each.target) for _, value in values_at(key, path.steps)}
        assert len(values) <= 1 or {each.source, each.target} <= {path for _, path in resource.key_fields}


def test_a_value_in_two_references_is_listed_once(surface: Surface) -> None:
    keys = TrackedKeys(surface, served(SERVED_BY_DEFAULT).validators, DescriptorMapping())
    offering = surface.resource_at("ed-fi/courseOfferings")

    key = keys.read(offering, {"localCourseCode": "ALG", "schoolId": 7, "schoolYear": 2026, "sessionName": "Fall"})

    assert key == {
        "localCourseCode": "ALG",
        "schoolReference": {"schoolId": 7},
        "sessionReference": {"schoolId": 7, "schoolYear": 2026, "sessionName": "Fall"},
    }


def test_what_is_missing_is_told(surface: Surface) -> None:
    keys = TrackedKeys(surface, served(SERVED_BY_DEFAULT).validators, DescriptorMapping())

    with pytest.raises(DataValidationFailed) as raised:
        keys.read(surface.resource_at("ed-fi/classPeriods"), {"classPeriodName": "A", "schoolId": None})

    assert [each.path for each in raised.value.violations] == ["$.schoolReference.schoolId"]


# Those whose key has one value in two references.
MERGED = (
    "ed-fi/courseOfferings",
    "ed-fi/grades",
    "ed-fi/sectionAttendanceTakenEvents",
    "ed-fi/studentAssessmentRegistrationBatteryPartAssociations",
    "ed-fi/studentSchoolAttendanceEvents",
    "ed-fi/surveyQuestionResponses",
    "ed-fi/surveySectionResponses",
)


def test_deletes_and_new_documents_of_keys_with_one_value_in_two_references(
    surface: Surface, connect: Connect, pull: Pull
) -> None:
    documents = DocumentFactory(surface)
    resources = [surface.resource_at(path) for path in MERGED]
    for resource in resources:
        documents.store_targets(resource, documents.minimal_body(resource))
    names = [each.name.resource for each in resources]
    with CascadingSource(order=MERGED, surface=surface).serving() as source:
        connection = connect(address=source.address)
        rows = Document.objects.using(DOCUMENTS).filter(created_by=connection.api_client_id)

        def put_all() -> list[Stored]:
            bodies = {each.url_path.strip("/"): documents.minimal_body(each) for each in resources}
            bodies["ed-fi/courseOfferings"] |= {"localCourseCode": "Another"}
            return [source.put(path, body) for path, body in bodies.items()]

        stored = put_all()
        pull(connection)
        assert sorted(row.resource_type.name for row in rows.all()) == sorted(names)
        for each in stored:
            source.remove(each, **source.key_values(each))
        pull(connection)
        assert rows.all().count() == 0
        put_all()
        pull(connection)
        assert rows.all().count() == 7


@pytest.fixture
def unreadable(district: District, source: ReferenceSource, connect: Connect, pull: Pull) -> Connection:
    """A period whose delete is listed without a whole key."""
    district.descriptors()
    district.school()
    period = source.put("ed-fi/classPeriods", district.period("A"))
    connection = connect()
    pull(connection)
    source.remove(period, classPeriodName="A")
    return connection


def test_a_delete_without_a_whole_key_holds_the_position_without_a_ledger(unreadable: Connection, pull: Pull) -> None:
    with pytest.raises(RemoteFailed, match=r"a delete of ed-fi/classPeriods without \$.schoolReference.schoolId"):
        pull(unreadable)

    assert ExchangePosition.objects.using(DOCUMENTS).get().version == 4


@pytest.mark.usefixtures("transactional_db")
def test_a_delete_without_a_whole_key_is_in_the_ledger(unreadable: Connection, pull: Pull, settings: Any) -> None:
    settings.EDFI_API = settings.EDFI_API | {"WRITE_RECORDER": "edfi_api.features.refusals.recorder.Recorder"}

    pulled = pull(unreadable)

    assert pulled.outcomes is not None
    assert pulled.outcomes.total("refused") == 1
    [entry] = Refusal.objects.all()
    assert (entry.operation, entry.resource, entry.status) == ("delete", "/ed-fi/classPeriods", 400)
    assert ExchangePosition.objects.using(DOCUMENTS).get().version == 5
