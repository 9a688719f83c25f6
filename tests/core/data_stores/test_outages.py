"""A data store that is down or slow hurts no other."""

import time

import pytest
from django.db import connections

from edfi_api.core.data_stores.access import Breaker, Load
from edfi_api.core.data_stores.databases import alias_of
from edfi_api.core.data_stores.routing_cache import read_table
from edfi_api.core.storage.database_state import database_state
from tests.conftest import http
from tests.support.ports import free_port

STUDENTS = "/students"


@pytest.fixture
def two(year, make_store, client_of, store_databases):
    """Clients of a store that is away, and of one that answers."""
    away = make_store("away", connection=store_databases.url_of("away"), schoolYear="2026")
    client = client_of(away, make_store("fine", schoolYear="2027"))
    return client.at("/2026"), client.at("/2027")


def _breaker(name):
    [store] = [each for each in read_table().stores.values() if each.name == name]
    return database_state(alias_of(store.primary)).value(Breaker)


def _let_one_try(breaker):
    """Act as if the seconds had passed."""
    breaker._open_until = time.monotonic()


def test_after_two_outages_requests_are_refused_without_connecting(two, store_databases, log):
    away, fine = two

    answers = [away.get(STUDENTS) for _ in range(4)]

    assert {(each.status_code, each["Retry-After"]) for each in answers} == {(503, "5")}
    assert log.text.count("does not answer; its requests are refused") == 1
    store_databases.run("CREATE DATABASE away TEMPLATE template_of_stores")
    store_databases.made.append("away")
    assert away.get(STUDENTS).status_code == 503
    assert fine.get(STUDENTS).status_code == 200


def test_one_request_tries_and_lets_the_others_through(two, store_databases, log):
    away, _ = two
    for _ in range(2):
        away.get(STUDENTS)
    breaker = _breaker("away")
    _let_one_try(breaker)
    assert away.get(STUDENTS).status_code == 503

    store_databases.run("CREATE DATABASE away TEMPLATE template_of_stores")
    store_databases.made.append("away")
    _let_one_try(breaker)

    assert [away.get(STUDENTS).status_code for _ in range(3)] == [200, 200, 200]
    assert log.text.count("answers again") == 1


def test_others_are_refused_while_one_tries(two):
    away, _ = two
    for _ in range(2):
        away.get(STUDENTS)
    breaker = _breaker("away")
    _let_one_try(breaker)
    breaker.check()

    before = time.monotonic()
    assert away.get(STUDENTS).status_code == 503
    assert time.monotonic() - before < 1


def test_a_request_that_uses_no_database_proves_nothing(year, make_store, client_of, store_databases):
    client = client_of(make_store("x", schoolYear="2027")).at("/2027")
    assert client.get(STUDENTS).status_code == 200
    store_databases.drop_all()
    assert [client.get(STUDENTS).status_code for _ in range(2)] == [503, 503]
    _let_one_try(_breaker("x"))

    assert client.get("/students/not-an-id").status_code == 400

    assert _breaker("x").is_open
    _let_one_try(_breaker("x"))
    assert client.get(STUDENTS).status_code == 503


def test_a_slow_store_gets_no_more_than_its_share_of_threads(configured, make_store, client_of):
    configured("schoolYear", THREADS=4, STORE_SHARE=0.5)
    slow = make_store("slow", schoolYear="2026")
    client = client_of(slow, make_store("fine", schoolYear="2027"))
    assert client.at("/2026").get(STUDENTS).status_code == 200
    load = database_state(alias_of(read_table().stores[slow.pk].primary)).value(Load)
    under_way = [object(), object()]
    for each in under_way:
        load.begin(each)

    assert client.at("/2026").get(STUDENTS).status_code == 200  # They have just begun.
    for each in under_way:
        load._begun[id(each)] -= 2  # As if two seconds had passed.
    refused = client.at("/2026").get(STUDENTS)

    assert (refused.status_code, refused["Retry-After"]) == (503, "1")
    assert client.at("/2027").get(STUDENTS).status_code == 200
    load.end(under_way[0])
    assert client.at("/2026").get(STUDENTS).status_code == 200


def test_the_only_store_of_a_server_is_not_limited(configured, make_store, client_of):
    configured("schoolYear", THREADS=4, STORE_SHARE=0.25)
    store = make_store("only", schoolYear="2026")
    client = client_of(store).at("/2026")
    client.get(STUDENTS)
    load = database_state(alias_of(read_table().stores[store.pk].primary)).value(Load)
    load._begun[1] = time.monotonic() - 60

    assert client.get(STUDENTS).status_code == 200


def test_an_outage_of_the_admin_database_is_none_of_the_store(year, make_store, client_of, monkeypatch):
    client = client_of(make_store("x", schoolYear="2027")).at("/2027")
    assert client.get(STUDENTS).status_code == 200
    control = connections["default"]
    with monkeypatch.context() as away:
        control.close()
        away.setitem(control.settings_dict, "PORT", free_port())
        # Profiles are read from the admin database, after the beginning of the lease.
        accept = "application/vnd.ed-fi.student.any.readable+json"
        answers = [client.get(STUDENTS, headers={"Accept": accept}).status_code for _ in range(2)]
    control.close()

    assert answers == [503, 503]
    assert client.get(STUDENTS).status_code == 200


def test_a_killed_connection_is_replaced_without_an_error(year, make_store, client_of, store_databases):
    client = client_of(make_store("x", schoolYear="2027")).at("/2027")
    client.get(STUDENTS)

    store_databases.run(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname LIKE 'store_%' AND usesysid IS NOT NULL"
    )

    assert client.get(STUDENTS).status_code == 200


def test_metrics_and_logs_name_the_store(two, log):
    away, fine = two
    fine.get("/unknown")
    for _ in range(3):
        away.get(STUDENTS)

    ids = {store.name: store.id for store in read_table().stores.values()}
    text = http().get("/metrics").content.decode()

    assert f'meadowlark_store_requests_total{{code_class="4xx",data_store="{ids["fine"]}"}} 1.0' in text
    assert f'meadowlark_store_requests_total{{code_class="5xx",data_store="{ids["away"]}"}} 3.0' in text
    assert f'meadowlark_store_refused_total{{data_store="{ids["away"]}",reason="open"}} 1.0' in text
    assert [
        line for line in text.splitlines() if line.startswith(("meadowlark_store_up{", "meadowlark_store_mig"))
    ] == [
        f'meadowlark_store_up{{data_store="{ids["away"]}"}} 0.0',
        f'meadowlark_store_up{{data_store="{ids["fine"]}"}} 1.0',
        f'meadowlark_store_migrations_pending{{data_store="{ids["fine"]}"}} 0.0',
    ]
    refused = [line for line in log.of("meadowlark.requests") if line["status"] == 503]
    assert [line["store"] for line in refused] == [ids["away"]] * 3
    assert [line.get("refused") for line in refused] == [None, None, "open"]


def test_health_counts_stores_but_stays_ready(two):
    away, fine = two
    fine.get(STUDENTS)
    for _ in range(2):
        away.get(STUDENTS)

    results = {each["Name"]: each for each in http().get("/health").json()["Results"]}
    assert results["Data Stores"] == {
        "Name": "Data Stores",
        "Status": "Healthy",
        "Description": "1 of 2 data stores answer.",
    }
    assert "Data Stores" not in http().get("/health/ready").content.decode()


def test_a_closed_port_is_refused_quickly(year, make_store, client_of):
    url = "host=127.0.0.1 port=1 dbname=x user=x"
    client = client_of(make_store("x", connection=url, schoolYear="2027")).at("/2027")

    before = time.monotonic()
    assert client.get(STUDENTS).status_code == 503
    assert time.monotonic() - before < 3
    assert not [alias for alias in connections if alias == "x"]
