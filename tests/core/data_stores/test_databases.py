"""Commands that create, copy and drop the databases of data stores."""

import psycopg
import pytest
from django.core.management.base import CommandError
from django.db import connections
from psycopg.conninfo import make_conninfo

from edfi_api.core.data_stores.databases import alias_of
from edfi_api.core.data_stores.models import DataStore, State
from edfi_api.core.data_stores.routing_cache import read_table
from edfi_api.core.data_stores.stores import set_state
from edfi_api.core.storage import resource_types
from edfi_api.features.loading.bulk import Candidate, write_documents
from edfi_api.features.loading.provisioning import of_every_year
from edfi_api.model.surface.resource import ResourceName
from meadowlark import prepare
from tests.support import superuser
from tests.support.management_commands import run
from tests.support.serving import served
from tests.whole.robustness.waiting import wait_until


def _databases(second_server):
    with psycopg.connect(second_server.url) as connection:
        return {name for (name,) in connection.execute("SELECT datname FROM pg_database")}


@pytest.mark.long
def test_copies_of_a_template_are_complete_and_independent(year, db, url, client_of, second_server):
    arguments = ["--from-template", "--context"]
    made = run("provision_data_store", "2027", "--url", url("first"), *arguments, "schoolYear=2027")
    templates = {name for name in _databases(second_server) if name.startswith("meadowlark_template_")}
    again = run("provision_data_store", "2028", "--url", url("second"), *arguments, "schoolYear=2028")

    stores = list(DataStore.objects.all())
    assert made[0] == again[0] == "database created"
    assert len(templates) == 1 and templates <= _databases(second_server)
    client = client_of(*stores)
    for store in stores:
        at = client.at(f"/{store.name}")
        assert at.get("/schoolYearTypes?schoolYear=2026").json()[0]["currentSchoolYear"] is True
        assert len(at.get("/gradeLevelDescriptors").json()) > 10
    assert client.at("/2027").post("/students", _student("1")).status_code == 201
    assert client.at("/2028").get("/students").json() == []
    assert run("provision_data_store", "2028", "--from-template") == [f"data store {stores[1].pk} 2028: online"]


def test_what_a_new_year_takes_over(surface):
    endpoints = {resource.endpoint for resource in of_every_year(surface)}

    assert {
        "schools",
        "localEducationAgencies",
        "locations",
        "classPeriods",
        "courses",
        "programs",
        "graduationPlans",
        "staffs",
        "students",
        "gradeLevelDescriptors",
    } <= endpoints
    assert not endpoints & {
        "schoolYearTypes",
        "sessions",
        "calendars",
        "sections",
        "courseOfferings",
        "studentSchoolAssociations",
        "staffEducationOrganizationAssignmentAssociations",
        "academicWeeks",
        "disciplineIncidents",
        "grades",
        "surveys",
    }


@pytest.fixture
def filled(configured, make_store, client_of):
    """A data store of a district and a year with documents that a new year takes over, and others."""
    configured("districtId", "schoolYear")
    store = make_store("2027", districtId="4410", schoolYear="2027")
    client = client_of(store).at("/4410/2027")
    assert client.post("/students", _student("1")).status_code == 201
    assert client.post("/schoolYearTypes", _school_year()).status_code == 201
    assert client.post("/students", _student("2")).status_code == 201
    [second] = client.get("/students?studentUniqueId=2").json()
    assert client.delete(f"/students/{second['id']}").status_code == 204
    return store, client


def _student(unique_id):
    return {"studentUniqueId": unique_id, "firstName": "A", "lastSurname": "B", "birthDate": "2010-01-01"}


def _school_year():
    return {"schoolYear": 2060, "currentSchoolYear": False, "schoolYearDescription": "2059-2060"}


def test_a_clone_has_what_belongs_to_no_year(filled, client_of, second_server):
    source, _ = filled
    arguments = ["clone_data_store", "2027", "2028", "--context", "schoolYear=2028", "--url"]
    target = second_server.create()

    done = run(*arguments, target)

    clone = DataStore.objects.get(name="2028")
    assert done[-1] == (f"data store {clone.pk} 2028: online, of {source.pk} 2027 (districtId=4410,schoolYear=2027)")
    at = client_of(clone, name="clone").at("/4410/2028")
    assert [each["studentUniqueId"] for each in at.get("/students").json()] == ["1"]
    assert at.get("/schoolYearTypes?schoolYear=2060").json() == []
    assert run("verify_integrity", "--data-store", "2028")[0].endswith("documents agree with their rows")
    with pytest.raises(CommandError, match="2028 exists already, and is online"):
        run(*arguments, target)


def test_documents_of_another_standard_are_mapped(filled, client_of, second_server, standard):
    if standard != "5.2":
        pytest.skip("the mapping leads to 5.2")
    source, _ = filled
    older, using = served("4.0").surface, alias_of(read_table().stores[source.pk].primary)
    resource_types.synchronize(older.resources, using)
    parent = {"parentUniqueId": "P1", "firstName": "Ann", "lastSurname": "Lee"}
    list(write_documents([Candidate.of(older.by_name[ResourceName("Ed-Fi", "Parent")], parent, "")], using))
    url = second_server.create()

    arguments = ["--context", "schoolYear=2028", "--url", url, "--mapping", "4.0..5.2", "--all"]
    run("clone_data_store", "2027", "2028", *arguments)

    at = client_of(DataStore.objects.get(name="2028"), name="clone").at("/4410/2028")
    assert [each["contactUniqueId"] for each in at.get("/contacts").json()] == ["P1"]
    assert [each["studentUniqueId"] for each in at.get("/students").json()] == ["1"]


def test_a_whole_database_is_copied_and_continues_its_change_versions(filled, url, client_of):
    _, client = filled
    newest = client.request("get", "/changeQueries/v1/availableChangeVersions").json()["newestChangeVersion"]
    arguments = ["--context", "schoolYear=2028", "--url", url("whole"), "--via", "template"]
    with pytest.raises(CommandError, match="with --all only"):
        run("clone_data_store", "2027", "2028", *arguments)

    run("clone_data_store", "2027", "2028", *arguments, "--all")

    at = client_of(DataStore.objects.get(name="2028"), name="clone").at("/4410/2028")
    assert [each["studentUniqueId"] for each in at.get("/students").json()] == ["1"]
    assert len(at.get("/schoolYearTypes?schoolYear=2060").json()) == 1
    assert at.get("/students/deletes").json() == []
    assert at.post("/students", _student("3")).status_code == 201
    versions = at.request("get", "/changeQueries/v1/availableChangeVersions").json()
    assert versions["newestChangeVersion"] > newest + 900_000
    assert len(client.get("/students/deletes").json()) == 1


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["none"], 'There is no data store "none"'),
        (["2027", "--resource", "nothing"], "nothing"),
        (["2027", "--url", "SAME"], "leads to the database of the data store that is to be copied"),
        (["2027", "--all", "--via", "template", "--url", "host=127.0.0.1 port=1 dbname=x"], "on its own server only"),
        (["2027", "--url", "host=127.0.0.1 port=1 dbname=x"], "is not complete yet"),
        (["2027", "--context", "year=1"], "MEADOWLARK_ROUTE_QUALIFIERS does not name: year."),
        (["2027", "--url", "OTHER"], "The database of its connection string is also that of data store"),
        (["2027", "--url", "ADMIN"], "The database of its connection string is the admin database."),
        (["2027", "--all", "--via", "template", "--url", "FOREIGN"], "exists already, and is not a copy for this data"),
    ],
)
def test_what_cannot_be_cloned_is_refused_with_the_reason(year, make_store, store_databases, arguments, reason):
    make_store("2027", connection=store_databases.shared(), schoolYear="2027")
    urls = {"SAME": store_databases.shared(), "FOREIGN": store_databases.create(template=None)}
    urls |= {"OTHER": store_databases.create(template=None), "ADMIN": _url_of_the_admin_database()}
    make_store("2026", connection=urls["OTHER"], schoolYear="2026")
    given = [urls.get(each, each) for each in arguments]

    with pytest.raises(CommandError) as error:
        run("clone_data_store", given[0], "new", *given[1:])

    assert reason in str(error.value)


def _url_of_the_admin_database():
    info = connections["default"].connection.info
    return make_conninfo(host=info.host, port=info.port, user=info.user, dbname=info.dbname)


def test_a_database_is_dropped_after_a_last_export(year, make_store, client_of, second_server, tmp_path):
    store = make_store("old", schoolYear="2020")
    client_of(store).at("/2020").post("/students", _student("1"))
    name = second_server.made[-1]
    drop = ["drop_data_store", "old", "--yes", "old"]
    for wrong in (["--with-database"], ["--no-export"], ["--export", str(tmp_path)]):
        with pytest.raises(CommandError, match="With --with-database say"):
            run(*drop, *wrong)

    assert run(*drop, "--with-database", "--export", str(tmp_path)) == [
        f"{store.pk} old (schoolYear=2020): removed",
        "database dropped",
    ]

    assert [path.name for path in tmp_path.iterdir()] == ["ed-fi.students.jsonl.gz"]
    assert name not in _databases(second_server)
    assert not DataStore.objects.exists()


@pytest.fixture
def vacuumed(second_server, store_databases, make_store):
    """A data store in whose database an autovacuum worker is at work for long."""
    store = make_store("old", connection=store_databases.create(template=None), schoolYear="2020")
    with psycopg.connect(superuser.url_of(second_server.url), autocommit=True) as server:
        server.execute("ALTER SYSTEM SET autovacuum_naptime = '1s'")
        server.execute("SELECT pg_reload_conf()")
        with psycopg.connect(second_server.url_of(second_server.made[-1]), autocommit=True) as connection:
            connection.execute(_VACUUMED_SLOWLY)
        try:
            wait_until(lambda: server.execute(_WORKERS, [second_server.made[-1]]).fetchall(), 20)
            yield store
        finally:
            server.execute("ALTER SYSTEM RESET autovacuum_naptime")
            server.execute("SELECT pg_reload_conf()")


_VACUUMED_SLOWLY = """
CREATE TABLE vacuumed WITH (
    autovacuum_vacuum_insert_threshold = 0,
    autovacuum_vacuum_insert_scale_factor = 0,
    autovacuum_vacuum_cost_delay = 100,
    autovacuum_vacuum_cost_limit = 1
) AS SELECT repeat('x', 1000) AS long FROM generate_series(1, 2000)
"""
_WORKERS = "SELECT FROM pg_stat_activity WHERE datname = %s AND backend_type = 'autovacuum worker'"


def test_a_database_is_dropped_during_autovacuum(year, vacuumed, second_server):
    name = second_server.made[-1]

    with psycopg.connect(second_server.url_of(name)):
        dropped = run("drop_data_store", "old", "--yes", "old", "--with-database", "--no-export")

    assert dropped[-1] == "database dropped"
    assert name not in _databases(second_server)


def test_sessions_of_others_keep_a_database_during_autovacuum(year, vacuumed, second_server):
    name = second_server.made[-1]

    with psycopg.connect(superuser.url_of(second_server.url_of(name))) as session:
        with pytest.raises(CommandError, match="Its database is still there: permission denied to terminate process"):
            run("drop_data_store", "old", "--yes", "old", "--with-database", "--no-export")

        session.execute("SELECT")
    assert name in _databases(second_server)


def test_a_database_of_another_owner_and_its_sessions_stay(year, make_store, second_server):
    make_store("old", schoolYear="2020")
    name = second_server.made[-1]
    with psycopg.connect(superuser.url_of(second_server.url), autocommit=True) as server:
        server.execute(f"ALTER DATABASE {name} OWNER TO {superuser.NAME}")

    with psycopg.connect(second_server.url_of(name)) as session:
        with pytest.raises(CommandError, match=f"must be owner of database {name}"):
            run("drop_data_store", "old", "--yes", "old", "--with-database", "--no-export")

        session.execute("SELECT")


@pytest.mark.parametrize("spelling", ["", "/."], ids=["same host", "another name of the host"])
def test_a_database_of_two_data_stores_is_not_dropped(year, make_store, store_databases, spelling):
    first = make_store("1", connection=store_databases.shared(), schoolYear="1")
    second = make_store("2", connection=store_databases.shared() + spelling, schoolYear="2")

    with pytest.raises(CommandError, match=f"Its database is also that of data store {second.pk}"):
        run("drop_data_store", str(first.pk), "--yes", "1", "--with-database", "--no-export")

    assert DataStore.objects.count() == 2


def test_the_admin_database_is_not_dropped(year, make_store):
    make_store("main", connection="main", schoolYear="1")
    make_store("url", connection=_url_of_the_admin_database(), schoolYear="2")

    for name in ("main", "url"):
        with pytest.raises(CommandError, match="Its database is the admin database"):
            run("drop_data_store", name, "--yes", name, "--with-database", "--no-export")


def test_migrate_says_how_many_data_stores_are_behind(year, make_store, store_databases):
    assert not [line for line in run("migrate") if line.startswith("Data stores")]
    make_store("behind", connection=store_databases.create(template=None), schoolYear="1")
    make_store("away", connection=store_databases.url_of("away"), schoolYear="2")
    make_store("ready", connection=store_databases.shared(), schoolYear="3")

    assert "Data stores: 1 of 3 are behind, 1 do not answer; migrate_data_stores brings them up to date." in run(
        "migrate"
    )


@pytest.mark.long
def test_a_container_migrates_data_stores_if_it_is_said(configured, make_store, store_databases, client_of, capfd):
    configured("schoolYear", MIGRATE_STORES=True)
    behind = make_store("behind", connection=store_databases.create(template=None), schoolYear="1")
    make_store("away", connection=store_databases.url_of("away"), schoolYear="2")

    prepare.prepare_database()

    assert client_of(behind).at("/1").get("/students").json() == []
    assert "failed for 1 of 2 data stores" in capfd.readouterr().err


def test_closed_years_can_be_copied(year, make_store, store_databases, client_of):
    store = make_store("2027", schoolYear="2027")
    set_state(store, State.READ_ONLY)

    run("clone_data_store", "2027", "2028", "--context", "schoolYear=2028", "--url", store_databases.create())

    assert client_of(DataStore.objects.get(name="2028")).at("/2028").get("/students").json() == []
