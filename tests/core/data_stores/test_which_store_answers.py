"""The order of checks by which a data store is found, and the answer if none is."""

import pytest

from edfi_api.core.data_stores.models import State
from edfi_api.core.data_stores.stores import set_connection, set_state
from edfi_api.core.security.models import ApiClient
from tests.core.data_stores.problems import AMBIGUOUS, NO_STORES, NOT_CONFIGURED, NOT_FOUND, NOT_PROVISIONED, problem

STUDENTS = "/students"


@pytest.fixture
def make_store(make_store, store_databases):
    """Most tests here only find out which store answers, so one database does for all."""

    def make(name, *, connection="", **context):
        return make_store(name, connection=connection or store_databases.shared(), **context)

    return make


@pytest.fixture
def explicit(configured):
    configured("districtId", "schoolYear")


def test_a_client_without_stores_uses_the_main_store(configured, client_of):
    configured()

    assert client_of().get(STUDENTS).json() == []


def test_a_client_without_stores_is_denied_where_the_main_store_does_not_count(configured, client_of):
    configured(MAIN_STORE=False)

    assert problem(client_of().get(STUDENTS)) == NO_STORES


def test_a_client_without_stores_is_denied_where_addresses_have_a_context(explicit, client_of):
    assert problem(client_of().at("/4410/2027").get(STUDENTS)) == NO_STORES


def test_the_only_store_answers_an_address_without_context(configured, make_store, client_of):
    configured()

    assert client_of(make_store("lakeside")).get(STUDENTS).json() == []


def test_the_store_with_the_context_answers(explicit, make_store, client_of):
    client = client_of(
        make_store("2026", districtId="4410", schoolYear="2026"),
        make_store("2027", districtId="4410", schoolYear="2027"),
    )

    assert client.at("/4410/2027").get(STUDENTS).json() == []


@pytest.mark.parametrize(
    "context",
    [
        pytest.param("/4410/2099", id="a year that does not exist"),
        pytest.param("/9999/2027", id="a district that does not exist"),
        pytest.param("/5510/2027", id="a store of another client"),
        pytest.param("/2027/4410", id="the values in another order"),
        pytest.param("/4410", id="too few segments"),
        pytest.param("", id="no context"),
    ],
)
def test_what_exists_elsewhere_is_not_disclosed(explicit, make_store, client_of, context):
    make_store("of others", districtId="5510", schoolYear="2027")
    client = client_of(make_store("2027", districtId="4410", schoolYear="2027"))

    for path in (STUDENTS, "/unknown", f"{STUDENTS}/not-an-id", "/data/nothing", "/relations/v1/ed-fi/students/x"):
        assert problem(client.at(context).get(path)) == NOT_FOUND
    assert problem(client.at(context).post(STUDENTS, "no JSON")) == NOT_FOUND


def test_authentication_comes_first(explicit, client_of):
    client = client_of().at("/4410/2027")
    client.token = "unknown"

    assert client.get(STUDENTS).status_code == 401


def test_more_segments_than_qualifiers_are_no_address(explicit, client_of):
    response = client_of().at("/a/4410/2027").get(STUDENTS)

    assert response.status_code == 404
    assert response.json()["type"] == "urn:ed-fi:api:not-found"


def test_two_stores_with_the_context_are_ambiguous(configured, make_store, client_of):
    configured()

    assert problem(client_of(make_store("one"), make_store("two")).get(STUDENTS)) == AMBIGUOUS


def test_a_store_with_context_never_matches_without_qualifiers(configured, make_store, client_of):
    configured()

    assert problem(client_of(make_store("2027", schoolYear="2027")).get(STUDENTS)) == NOT_FOUND


def test_a_store_that_lacks_a_qualifier_never_matches(explicit, make_store, client_of):
    client = client_of(make_store("2027", schoolYear="2027"))

    assert problem(client.at("/4410/2027").get(STUDENTS)) == NOT_FOUND


@pytest.mark.parametrize("context", ["/lakeside%20isd/2027", "/LAKESIDE%20ISD/2027", "/Lakeside ISD/2027"])
def test_case_does_not_count_and_segments_are_decoded_once(explicit, make_store, client_of, context):
    client = client_of(make_store("2027", DistrictID="Lakeside ISD", schoolyear="2027"))

    assert client.at(context).get(STUDENTS).status_code == 200


@pytest.mark.parametrize("context", ["/4410%2F2027", "/4410%2f2027"])
def test_an_encoded_slash_does_not_separate_segments(explicit, make_store, client_of, context):
    client = client_of(make_store("2027", districtId="4410", schoolYear="2027"))

    answer = client.at(context).get(STUDENTS, RAW_URI=f"{context}/data/ed-fi/students?limit=1")

    assert answer.status_code == 404
    assert client.at("/4410/2027").get(STUDENTS, RAW_URI="/4410/2027/data/ed-fi/students?q=%2F").status_code == 200


@pytest.mark.parametrize(
    "path", ["/DATA/ed-fi/students", "/data/v3/ed-fi/students/", "/V5.2/ed-fi/students", "/data/ed-fi/students/deletes"]
)
def test_every_form_of_a_data_path_follows_a_context(explicit, make_store, client_of, path, standard):
    if standard != "5.2":
        path = path.replace("V5.2", "V3.3b")
    client = client_of(make_store("2027", districtId="4410", schoolYear="2027"))

    assert client.at("/4410/2027").request("get", path).status_code == 200


@pytest.mark.parametrize("connection", ["env:MEADOWLARK_STORE_UNSET", "env:HOME", "host=nowhere", "no string"])
def test_a_connection_string_that_cannot_be_used(configured, make_store, client_of, connection):
    configured()

    assert problem(client_of(make_store("x", connection=connection)).get(STUDENTS)) == NOT_CONFIGURED


def test_a_missing_connection_string(configured, make_store, client_of):
    configured()
    store = make_store("x")
    set_connection(store, None)

    assert problem(client_of(store).get(STUDENTS)) == NOT_CONFIGURED


def test_a_connection_string_that_was_encrypted_with_another_key(configured, make_store, client_of):
    configured()
    client = client_of(make_store("x"))
    configured(STORE_KEYS=("another key",))

    assert problem(client.get(STUDENTS)) == NOT_CONFIGURED


def test_a_host_that_is_not_allowed(configured, make_store, client_of):
    configured()
    client = client_of(make_store("x", connection="postgresql://edfi@192.168.0.1/lakeside"))
    configured(STORE_HOSTS=("db7.internal", "10.0.0.0/8"))

    assert problem(client.get(STUDENTS)) == NOT_CONFIGURED


def test_a_database_without_tables(configured, make_store, client_of, store_databases):
    configured()
    client = client_of(make_store("x", connection=store_databases.create(template=None)))

    assert problem(client.get(STUDENTS)) == NOT_PROVISIONED


def test_a_store_that_is_being_prepared(configured, make_store, client_of):
    configured()
    store = make_store("x")
    set_state(store, State.PREPARING)

    assert problem(client_of(store).get(STUDENTS)) == NOT_PROVISIONED


def test_a_store_that_is_offline(configured, make_store, client_of):
    configured()
    store = make_store("x")
    set_state(store, State.OFFLINE)

    response = client_of(store).get(STUDENTS)

    assert response.status_code == 503
    assert response.json()["type"] == "urn:ed-fi:api:service-unavailable"
    assert response["Retry-After"] == "60"


def test_a_database_that_does_not_answer(configured, make_store, client_of, second_server):
    configured()
    client = client_of(make_store("x", connection=second_server.url_of("does_not_exist")))

    response = client.get(STUDENTS)

    assert response.status_code == 503
    assert response.json()["type"] == "urn:ed-fi:api:service-unavailable"
    assert response["Retry-After"] == "5"


def test_a_closed_year_is_read_but_not_written(configured, make_store, client_of):
    configured()
    store = make_store("x")
    set_state(store, State.READ_ONLY)
    client = client_of(store)

    refused = client.post(STUDENTS, {})

    assert client.get(STUDENTS).status_code == 200
    assert refused.status_code == 405
    assert refused["Allow"] == "GET"
    assert refused.json()["errors"] == ["The data store is read-only."]


def test_a_store_is_usable_with_the_first_request_after_it_was_made(explicit, make_store, client_of):
    client = client_of(make_store("2026", districtId="4410", schoolYear="2026"))
    assert client.at("/4410/2026").get(STUDENTS).status_code == 200

    made = make_store("2027", districtId="4410", schoolYear="2027")
    ApiClient.objects.get(name="tests").data_stores.add(made)
    _pass_the_second_between_misses()

    assert client.at("/4410/2027").get(STUDENTS).status_code == 200


def _pass_the_second_between_misses():
    """Act as if a second had passed since the last check."""
    from edfi_api.core.data_stores.routing_cache import routing_cache  # noqa: PLC0415

    routing_cache()._checked_at -= 1


def test_the_location_has_the_context_as_the_client_wrote_it(explicit, make_store, client_of, store_databases):
    store = make_store("2027", connection=store_databases.create(), districtId="Lakeside", schoolYear="2027")
    client = client_of(store).at("/LakeSide/2027")
    client.get(STUDENTS)
    student = {"studentUniqueId": "1", "firstName": "A", "lastSurname": "B", "birthDate": "2010-01-01"}

    location = client.post(STUDENTS, student)["Location"]

    assert location.startswith("http://testserver/LakeSide/2027/data/ed-fi/students/")
    assert client.request("get", location.removeprefix("http://testserver/LakeSide/2027")).status_code == 200
