"""Refusals and versions of documents behind a context: those of the data store in the address."""

import pytest

from edfi_api.common import addresses
from edfi_api.core.data_stores.models import State
from edfi_api.core.data_stores.routing import FIXED, OUTSIDE
from edfi_api.core.data_stores.stores import create_data_store
from tests.conftest import http
from tests.core.data_stores.problems import NOT_FOUND, problem
from tests.core.data_stores.tenants import Tenant
from tests.support.factories import STUDENT

REFUSALS = "/submissions/v1/refusals"
SUBMISSIONS = (REFUSALS, "/submissions/v1/causes", "/submissions/v1/summary")
REFUSED = STUDENT | {"birthDate": "never"}


@pytest.fixture
def years(stores, client_of):
    """A client with a data store for each of two years."""
    return client_of(*stores)


@pytest.fixture
def two(configured, db, store_databases):
    """Tenants that share nothing but the server."""
    configured(MULTI_TENANCY=True)
    made = iter([store_databases.create(), store_databases.create()])

    def store(tenant):
        return create_data_store("main", tenant=tenant, connection=next(made), state=State.ONLINE)

    lakeside, grand_bend = Tenant("Lakeside", store, {}), Tenant("Grand-Bend", store, {})
    return lakeside.at("/lakeside"), grand_bend.at("/grand-bend")


def test_every_route_is_recognized_behind_a_context():
    fixed = {value for name, value in vars(addresses).items() if name.isupper() and isinstance(value, str)}

    assert {each.partition("/")[0].casefold() for each in fixed} - {""} <= FIXED | OUTSIDE


def test_a_history_is_that_of_the_data_store_in_the_address(years):
    old, new = years.at("/2026"), years.at("/2027")
    id_ = old.post("/students", STUDENT)["Location"].rpartition("/")[2]
    path = f"/history/v1/ed-fi/students/{id_}"

    assert [each["operation"] for each in old.get(path).json()] == ["insert"]
    assert new.get(path).status_code == 404
    assert problem(years.get(path)) == NOT_FOUND


def test_refusals_are_those_of_the_data_store_in_the_address(years, recorder):
    old, new = years.at("/2026"), years.at("/2027")
    for client, number in ((old, "1"), (new, "2"), (new, "3")):
        assert client.post("/students", REFUSED | {"studentUniqueId": number}).status_code == 400
    recorder.flush()

    assert [each["naturalKey"] for each in old.get(REFUSALS).json()] == ["NK#studentUniqueId=1"]
    assert [each["entries"] for each in old.get("/submissions/v1/causes").json()] == [1]
    assert [each["entries"] for each in new.get("/submissions/v1/causes").json()] == [2]
    [summary] = new.get("/submissions/v1/summary").json()
    assert (summary["open"], summary["activity"]["refusedLast24Hours"]) == (2, 2)
    [entry] = old.get(REFUSALS).json()
    assert new.get(f"{REFUSALS}/{entry['id']}").status_code == 404
    assert new.delete(f"{REFUSALS}/{entry['id']}").status_code == 404
    assert old.delete(f"{REFUSALS}/{entry['id']}").status_code == 204
    assert [path for path in SUBMISSIONS if problem(years.at("/2099").get(path)) != NOT_FOUND] == []


def test_an_address_without_context_has_the_refusals_of_all_data_stores(years, recorder):
    for address in ("/2026", "/2027"):
        years.at(address).post("/students", REFUSED)
    recorder.flush()

    assert len(years.get(REFUSALS).json()) == 2
    assert [each["entries"] for each in years.get("/submissions/v1/causes").json()] == [2]
    assert [each["open"] for each in years.get("/submissions/v1/summary").json()] == [2]


def test_the_filter_by_organization_uses_the_hierarchy_of_the_data_stores(
    stores,
    client_of,
    resource_named,
    documents_of,
    recorder,
):
    client, school = client_of(*stores), resource_named("School")
    old, new = (client.at(f"/{store.name}") for store in stores)
    new.get("/schools")
    factory = documents_of(f"store_{stores[1].pk}_1")
    agency = factory.minimal_body(resource_named("LocalEducationAgency"))["localEducationAgencyId"]
    body = factory.minimal_body(school, schoolId=701, localEducationAgencyReference={"localEducationAgencyId": agency})
    factory.store_targets(school, body)
    assert new.post("/schools", body).status_code == 201
    period = {"classPeriodName": "1", "schoolReference": {"schoolId": 701}, "officialAttendancePeriod": "perhaps"}
    for year in (old, new):
        assert year.post("/classPeriods", period).status_code == 400
    recorder.flush()

    def found(address, organization):
        return len(address.get(f"{REFUSALS}?educationOrganizationId={organization}").json())

    assert [found(address, 701) for address in (old, new, client)] == [1, 1, 2]
    assert [found(address, agency) for address in (old, new, client)] == [0, 1, 1]


def test_tenants_see_nothing_of_each_other(two, recorder):
    ours, theirs = two
    id_ = theirs.post("/students", STUDENT)["Location"].rpartition("/")[2]
    theirs.post("/students", REFUSED)
    recorder.flush()
    [entry] = theirs.get(REFUSALS).json()
    history = f"/history/v1/ed-fi/students/{id_}"

    for path in SUBMISSIONS:
        assert theirs.get(path).json() != []
        assert ours.get(path).json() == []
        assert problem(ours.at("/grand-bend").get(path)) == NOT_FOUND
        assert http().get(path).json()["errors"] == ["Missing tenant identifier in URL path."]
    assert ours.get(f"{REFUSALS}/{entry['id']}").status_code == 404
    assert ours.delete(f"{REFUSALS}/{entry['id']}").status_code == 404
    assert len(theirs.get(history).json()) == 1
    assert ours.get(history).status_code == 404
    assert problem(ours.at("/grand-bend").get(history)) == NOT_FOUND
