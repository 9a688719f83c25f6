"""Documents that answers contain beside the requested one: related documents, and referrers in refusals."""

from typing import Any

import pytest

from edfi_api.core.models import Document
from tests.conftest import ApiTestClient, item_path
from tests.core.security.profiles.conftest import ClientOf, Store, make_incompatible

SCHOOL = 1008
SCHEDULE = {"bellScheduleName": "S", "schoolReference": {"schoolId": SCHOOL}, "totalInstructionalTime": 7}


def relations(path: str) -> str:
    return path.replace("/data", "/relations/v1")


def found(response) -> list[str]:
    assert response.status_code == 200, response.content
    return sorted(each["resource"].removeprefix("ed-fi/") for each in response.json())


@pytest.fixture
def period(api, documents, resource_named) -> str:
    documents.store(resource_named("School"))
    sent = {"classPeriodName": "P1", "schoolReference": {"schoolId": SCHOOL}}
    return item_path(api.post("/classPeriods", sent))


@pytest.fixture
def schedule(api: ApiTestClient, period) -> str:
    reference = {"classPeriodReference": {"classPeriodName": "P1", "schoolId": SCHOOL}}
    return item_path(api.post("/bellSchedules", SCHEDULE | {"classPeriods": [reference]}))


@pytest.mark.usefixtures("schedule")
@pytest.mark.parametrize(
    ("read", "is_listed"),
    [
        ("IncludeAll", True),
        ('ExcludeOnly:<Property name="totalInstructionalTime"/>', True),
        ('ExcludeOnly:<Property name="classPeriods"/>', False),
        ('IncludeAll:<Collection name="classPeriods" memberSelection="IncludeOnly"/>', False),
    ],
)
def test_a_referrer_is_listed_if_its_reference_is_visible(store: Store, client_of: ClientOf, period, read, is_listed):
    store("Part", "BellSchedule", read=read)
    client = client_of("Part")

    assert found(client.get(relations(period))) == (["bellSchedules"] if is_listed else [])
    assert found(client.get(f"{relations(period)}?resource=ed-fi/bellSchedules")) == (
        ["bellSchedules"] if is_listed else []
    )


def test_a_target_is_listed_if_the_reference_to_it_is_visible(api, store, client_of, schedule) -> None:
    store("Part", "BellSchedule", read='ExcludeOnly:<Property name="classPeriods"/>')
    client = client_of("Part")

    outgoing = f"{relations(schedule)}?direction=outgoing"

    assert found(api.get(outgoing)) == ["classPeriods", "schools"]
    assert found(client.get(outgoing)) == ["schools"]


def test_what_one_of_several_profiles_shows_is_listed(store, client_of, period, schedule) -> None:
    store("Without", "BellSchedule", read='ExcludeOnly:<Property name="classPeriods"/>')
    store("With", "BellSchedule", read='IncludeOnly:<Property name="classPeriods"/>')

    assert found(client_of("Without").get(relations(period))) == []
    assert found(client_of("Without", "With").get(relations(period))) == ["bellSchedules"]


def test_bodies_of_related_documents_are_projected(store, client_of, period, schedule) -> None:
    def body(*profiles: str) -> dict[str, Any] | None:
        (entry,) = client_of(*profiles).get(f"{relations(period)}?include=body").json()
        return entry.get("body")

    store("A", "BellSchedule", read='ExcludeOnly:<Property name="totalInstructionalTime"/>')
    store("B", "BellSchedule", read="IncludeAll")
    store("Elsewhere", "Student", read="IncludeAll")

    narrowed = body("A")
    assert narrowed is not None and "totalInstructionalTime" not in narrowed
    assert narrowed["bellScheduleName"] == "S"
    assert narrowed == client_of("A").get(schedule).json()
    assert body("A", "B") is None
    whole = body("Elsewhere")
    assert whole is not None and whole["totalInstructionalTime"] == 7


def test_a_misfit_closes_what_it_names(store, client_of, period, schedule) -> None:
    store("Old", "BellSchedule", read="IncludeAll")
    make_incompatible("Old", "BellSchedule")
    client = client_of("Old")

    assert found(client.get(relations(period))) == []
    assert client.get(relations(schedule)).status_code == 403
    assert client.get(schedule).status_code == 403


@pytest.fixture
def other_school(api, documents, resource_named) -> None:
    assert api.post("/schools", documents.minimal_body(resource_named("School"), schoolId=5)).status_code == 201


@pytest.mark.usefixtures("schedule", "other_school")
def test_a_key_change_that_contradicts_a_hidden_place_does_not_name_it(api, store, client_of, period) -> None:
    moved = {"classPeriodName": "P1", "schoolReference": {"schoolId": 5}, "id": period.rsplit("/", 1)[1]}
    store("Hides", "BellSchedule", read='ExcludeOnly:<Property name="classPeriods"/>')
    store("Shows", "BellSchedule", read='IncludeOnly:<Property name="classPeriods"/>')

    whole, shows, hides = (client.put(period, moved) for client in (api, client_of("Shows"), client_of("Hides")))

    assert whole.json()["errors"] == shows.json()["errors"] != []
    assert hides.status_code == 400
    assert hides.json()["errors"] == ["The client may not read what would contradict itself."]


def test_a_delete_that_a_hidden_reference_holds_back_does_not_name_the_referrer(
    store, client_of, period, schedule
) -> None:
    store("Part", "BellSchedule", read='ExcludeOnly:<Property name="classPeriods"/>')

    response = client_of("Part").delete(period)

    assert response.status_code == 409
    assert response.json()["errors"] == []
    assert schedule.rsplit("/", 1)[1] not in response.content.decode() + str(response.headers)
    assert Document.objects.filter(resource_type__name="ClassPeriod").exists()
