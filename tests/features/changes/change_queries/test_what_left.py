"""Key changes by which documents leave or enter what a client may read."""

from functools import cache

import orjson
import pytest

from edfi_api.core.security.claims.file import read_claims
from edfi_api.core.security.claims.stored_claims import load
from tests.conftest import ApiTestClient, item_path, new_token
from tests.features.changes.change_queries.conftest import ChangeQueries
from tests.support.class_periods import PERIOD, store_school


@pytest.fixture
def period(api) -> str:
    """A class period of school 7; there are schools 8 and 9."""
    of_schools.cache_clear()
    for school in (7, 8, 9):
        store_school(api, school)
    return item_path(api.post("/classPeriods", PERIOD))


def move(api: ApiTestClient, path: str, school: int, name: str = "First") -> int:
    """Change the key; returns the version of the change."""
    body = {"id": path.rpartition("/")[2], "classPeriodName": name, "schoolReference": {"schoolId": school}}
    response = api.put(path, body)
    assert response.status_code == 204, response.content
    return int(response["ETag"].strip('"').partition("-")[0])


@cache
def of_schools(*schools: int) -> ChangeQueries:
    """A client that may read the changes of these schools."""
    grant = {"claims": ["ed-fi/classPeriod"], "actions": ["ReadChanges"], "strategies": ["RelationshipsWithEdOrgsOnly"]}
    load(read_claims(orjson.dumps({"claimSets": [{"name": "Changes", "grants": [grant]}]})), by="tests")
    return ChangeQueries(ApiTestClient(new_token(f"of {schools}", "Changes", education_organization_ids=schools)))


def keys(client: ChangeQueries, first: int | str = "", last: int | str = "") -> list[tuple[int, int]]:
    """Old and new schools; the total is that of the list."""
    found = client.key_changes("classPeriods", first, last)
    path = f"/classPeriods/keyChanges?totalCount=true&minChangeVersion={first}&maxChangeVersion={last}"
    assert client.api.get(path)["Total-Count"] == str(len(found))
    return [(each["oldKeyValues"]["schoolId"], each["newKeyValues"]["schoolId"]) for each in found]


def test_the_new_key_of_a_document_that_left_is_not_told(api, period):
    version = move(api, period, 8)

    assert keys(of_schools(7)) == []
    assert keys(of_schools(8)) == []
    assert keys(of_schools(7, 8)) == [(7, 8)]
    move(api, period, 7)
    assert keys(of_schools(7)) == [(7, 7)]
    assert keys(of_schools(7), last=version) == []
    assert keys(of_schools(7, 8), last=version) == [(7, 8)]


def test_windows_tell_of_the_key_at_their_end(api, period):
    there, back, away = move(api, period, 8), move(api, period, 7, "Second"), move(api, period, 9)

    assert keys(of_schools(7), last=there) == []
    assert keys(of_schools(7), last=back) == [(7, 7)]
    assert keys(of_schools(7), last=away) == []
    assert keys(of_schools(7, 9), first=back, last=away) == [(7, 9)]


def test_a_deleted_document_is_told_of_by_its_last_key(api, period):
    move(api, period, 8)
    assert api.delete(period).status_code == 204

    assert keys(of_schools(7)) == []
    assert keys(of_schools(7, 8)) == [(7, 8)]
