"""Commands that make, list, check and change data stores, and those about documents with `--data-store`."""

import json
from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connections
from django.test import Client

from edfi_api.core.data_stores.databases import alias_of
from edfi_api.core.data_stores.models import DataStore, State
from edfi_api.core.data_stores.routing_cache import read_table
from edfi_api.core.data_stores.stores import set_state
from edfi_api.features.changes.change_stream import delivery
from edfi_api.features.changes.change_stream.models import DeadLetter
from edfi_api.features.sql_views.models import SqlReader
from tests.features.validation import handlers
from tests.features.validation.rules import STUDENTS as WITHOUT_MIDDLE_NAME
from tests.support.management_commands import run

STUDENTS = "/students"
PASSWORD = "not-to-be-shown"


@pytest.fixture
def bodies(documents, resource_named):
    return documents.minimal_body(resource_named("Student"))


def test_a_provisioned_store_answers_at_once(year, db, store_databases, client_of):
    url = store_databases.url_of("provisioned")
    store_databases.made.append("provisioned")
    context = ["--context", "schoolYear=2028"]

    made = run("provision_data_store", "2028", "--url", url, "--create-database", *context)
    again = run("provision_data_store", "2028", *context)

    store = DataStore.objects.get()
    assert made == ["database created", f"data store {store.pk} 2028: online"]
    assert again == [f"data store {store.pk} 2028: online"]
    client = client_of(store).at("/2028")
    assert client.get("/schoolYearTypes?schoolYear=2026").json()[0]["currentSchoolYear"] is True
    assert len(client.get("/gradeLevelDescriptors").json()) > 10
    assert run("list_data_stores") == [f"{store.pk}  2028  schoolYear=2028  online  {_where(url)}"]


def _where(url):
    return f"{url.partition('host=')[2]}/provisioned"


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--url", f"host=db password={PASSWORD}"], "it names no database"),
        (["--url", "dbname=x", "--context", "year=2027"], "MEADOWLARK_ROUTE_QUALIFIERS does not name: year."),
        (["--url", "dbname=x", "--context", "schoolYear=data"], "'data' is reserved."),
        (["--url", "dbname=x", "--context", "schoolYear=a/b"], "without '/'"),
        (["--env", "MEADOWLARK_STORE_UNSET"], "The variable MEADOWLARK_STORE_UNSET is not set."),
        (["--id", "4711"], "There is no data store 4711."),
        (["--url", f"host=127.0.0.1 port=1 dbname=x user=x password={PASSWORD}"], "is not provisioned yet"),
    ],
)
def test_what_cannot_be_provisioned_is_refused_with_the_reason(year, db, store_databases, arguments, reason):
    with pytest.raises(CommandError) as error:
        run("provision_data_store", "new", *arguments)

    assert reason in str(error.value)
    assert PASSWORD not in str(error.value)


def test_without_a_lasting_key_nothing_is_stored(configured, db):
    configured(STORE_KEYS=())

    with pytest.raises(CommandError, match="Set MEADOWLARK_SECRET_KEY or MEADOWLARK_STORE_KEY"):
        run("provision_data_store", "new", "--url", "dbname=x")

    assert not DataStore.objects.exists()


def test_states_are_set_by_name_id_and_context(year, make_store, client_of, bodies):
    store = make_store("closed", schoolYear="2026")
    client = client_of(store).at("/2026")

    assert run("set_data_store_state", "CLOSED", "readOnly") == [f"{store.pk} closed (schoolYear=2026): readOnly"]
    assert client.post(STUDENTS, bodies).status_code == 405
    run("set_data_store_state", str(store.pk), "offline")
    run("set_data_store_state", "schoolyear=2026", "online")
    store.refresh_from_db()
    assert store.state == State.ONLINE
    with pytest.raises(CommandError, match='There is no data store "2027"; there are: '):
        run("set_data_store_state", "2027", "online")


def test_a_name_of_several_stores_is_refused(year, make_store):
    make_store("twin", connection="dbname=x", schoolYear="2026")
    make_store("twin", connection="dbname=y", schoolYear="2027")

    with pytest.raises(CommandError, match="is that of several data stores"):
        run("set_data_store_state", "twin", "online")


def test_a_store_is_dropped_only_with_its_name(year, make_store, client_of):
    store = make_store("old", schoolYear="2020")
    client = client_of(store, make_store("new", schoolYear="2021"))
    assert client.at("/2020").get(STUDENTS).status_code == 200

    with pytest.raises(CommandError, match='is not "new"'):
        run("drop_data_store", "old", "--yes", "new")
    run("drop_data_store", "old", "--yes", "old")

    assert not DataStore.objects.filter(pk=store.pk).exists()


def test_stores_are_assigned_to_a_client(year, make_store, client_of):
    client = client_of()
    make_store("2026", schoolYear="2026")

    assert run("assign_data_stores", "tests", "schoolYear=2026")[0].startswith("tests: ")
    assert client.at("/2026").get(STUDENTS).status_code == 200
    assert run("assign_data_stores", "tests", none=True) == ["tests: none"]


def test_a_client_is_created_with_its_stores(year, make_store):
    store = make_store("2026", schoolYear="2026")

    run("create_api_client", "sis", "--claim-set", "EdFiSandbox", "--data-store", "2026")

    assert [each.name for each in store.api_clients.all()] == ["sis"]
    with pytest.raises(CommandError, match="There is no data store"):
        run("create_api_client", "other", "--claim-set", "EdFiSandbox", "--data-store", "2099")


def test_keys_are_rotated(configured, make_store, client_of):
    configured(STORE_KEYS=("old",))
    store = make_store("x")
    configured(STORE_KEYS=("new", "old"))

    assert run("rotate_store_key") == ["1 connection string encrypted"]
    configured(STORE_KEYS=("new",))
    assert client_of(store).get(STUDENTS).status_code == 200


def test_nothing_is_rotated_if_one_string_cannot_be_decrypted(configured, make_store):
    configured(STORE_KEYS=("one",))
    before = make_store("a", connection="dbname=a").connection
    configured(STORE_KEYS=("other",))
    make_store("b", connection="dbname=b")

    with pytest.raises(CommandError, match="Nothing was changed"):
        run("rotate_store_key")

    assert DataStore.objects.get(name="a").connection == before


def test_checks_list_every_problem(year, make_store, client_of, store_databases):
    url = store_databases.create()
    fine = make_store("fine", connection=url, schoolYear="2027")
    same = make_store("same", connection=url, schoolYear="2028")
    twin = make_store("twin", connection=store_databases.create(), schoolYear="2027")
    make_store("lost", connection=store_databases.create(), districtId="1")
    make_store("empty", connection=store_databases.create(template=None), schoolYear="1")
    make_store("broken", connection="nonsense", schoolYear="2")
    make_store("away", connection=store_databases.url_of("away"), schoolYear="3")
    client_of(fine, twin)

    out = StringIO()
    with pytest.raises(CommandError, match=r"6 problem"):
        call_command("check_data_stores", stdout=out)

    found = out.getvalue()
    assert "lost (districtId=1): no address leads to it; the route qualifiers are: schoolYear" in found
    assert "tests: an address is ambiguous between" in found
    assert f"same (schoolYear=2028): its database is that of {fine.pk} fine (schoolYear=2027) too" in found
    assert "empty (schoolYear=1): " in found and "pending migrations" in found
    assert "broken (schoolYear=2): its connection string cannot be used" in found
    assert "away (schoolYear=3): does not answer" in found
    assert str(same.pk) in found


def test_all_stores_are_migrated_whatever_happens_to_one(year, make_store, client_of, store_databases):
    behind = make_store("behind", connection=store_databases.create(template=None), schoolYear="1")
    make_store("away", connection=store_databases.url_of("away"), schoolYear="2")
    make_store("ready", schoolYear="3")

    with pytest.raises(CommandError, match=r"failed for 1 of 3 data stores: .*away"):
        run("migrate_data_stores", "--parallel", "2")

    assert run("migrate_data_stores", "--data-store", "behind", "--plan")[0].endswith(": up to date")
    assert client_of(behind).at("/1").get(STUDENTS).json() == []


def test_commands_about_documents_take_data_stores(year, make_store, client_of, bodies, tmp_path):
    stores = [make_store(year, schoolYear=year) for year in ("2026", "2027")]
    client = client_of(*stores)
    client.at("/2026").post(STUDENTS, bodies)

    with pytest.raises(CommandError, match=r"Say which: --data-store, or --all-data-stores\. There are: "):
        run("verify_integrity")
    assert run("verify_integrity", "--data-store", "2026") == ["1 document agrees with its rows"]
    done = run("verify_integrity", "--all-data-stores", "--parallel", "2")
    names = [f"{store.pk} {store.name} (schoolYear={store.name})" for store in stores]
    assert sorted(done) == sorted(
        [
            f"{names[0]}: 1 document agrees with its rows",
            f"{names[0]}: done",
            f"{names[1]}: 0 documents agree with their rows",
            f"{names[1]}: done",
        ]
    )
    run("export_documents", "--all-data-stores", "--output", str(tmp_path))
    assert [path.name for path in (tmp_path / str(stores[0].pk)).iterdir()] == ["ed-fi.students.jsonl.gz"]

    run("load_documents", str(tmp_path / str(stores[0].pk)), "--data-store", "schoolYear=2027", "--processes", "0")

    assert len(client.at("/2027").get(STUDENTS).json()) == 1


def test_dry_runs_and_reports_of_loads_are_of_each_data_store(year, make_store, client_of, bodies, tmp_path):
    stores = [make_store(year, schoolYear=year) for year in ("2026", "2027")]
    (tmp_path / "students.jsonl").write_text(json.dumps(bodies))
    arguments = ["load_documents", str(tmp_path), "--all-data-stores", "--processes=0"]

    run(*arguments, "--dry-run", "--report", str(tmp_path / "report.json"))

    client = client_of(*stores)
    assert [client.at(f"/{store.name}").get(STUDENTS).json() for store in stores] == [[], []]
    assert sorted(path.name for path in tmp_path.glob("report*")) == [f"report.{store.pk}.json" for store in stores]
    assert json.loads((tmp_path / f"report.{stores[1].pk}.json").read_text())["summary"]["total"]["created"] == 1


def test_each_data_store_has_sql_views_of_its_own(year, make_store):
    stores = [make_store(year, schoolYear=year) for year in ("2026", "2027")]
    name = f"{stores[0].pk} 2026 (schoolYear=2026)"

    done = run("create_sql_views", "--schema", "util", "--all-data-stores")
    again = run("create_sql_views", "--schema", "util", "--data-store", "2026")

    assert f"{name}: 3 created: util, util.getedfistandardversion, util.getedfiodsversion" in done
    assert again == ["3 up to date"]
    with pytest.raises(CommandError, match="failed for 2 of 2 data stores"):
        run("refresh_sql_views", "--all-data-stores")
    with pytest.raises(CommandError, match="no view is a copy"):
        run("refresh_sql_views", "--data-store", "2026")
    assert run("drop_sql_views", "--data-store", "2027")[-1] == "3 objects dropped"


@pytest.fixture
def a_rule(tmp_path, settings):
    settings.EDFI_API = {**settings.EDFI_API, "RULES": (str(tmp_path),), "BUNDLED_RULES": False}
    (tmp_path / "rule.sql").write_text(WITHOUT_MIDDLE_NAME)


@pytest.mark.usefixtures("a_rule")
def test_each_data_store_has_results_of_its_own(year, make_store, client_of, bodies):
    stores = [make_store(name, schoolYear=name) for name in ("2026", "2027")]
    client = client_of(*stores)
    path = client.at("/2026").post(STUDENTS, bodies)["Location"].partition("/data/")[2]

    for store in stores:
        assert "tests/S-1  published" in run("run_validation", "--data-store", store.name)[1]

    [result] = client.at("/2026").get("/validation/v1/validationResults").json()
    assert result["resourceLink"] == f"/2026/data/{path}"
    assert client.at("/2026").get("/validation/v1/validationRuns").json()[0]["host"] == "http://testserver/2026"
    assert client.at("/2027").get("/validation/v1/validationResults").json() == []
    _assert_pages_are_of(stores[0], bodies, finds=True)
    _assert_pages_are_of(stores[1], bodies, finds=False)


@pytest.fixture
def failing_handler(a_rule, settings, monkeypatch):
    """Its name; it fails for the student 1."""
    settings.EDFI_API = {**settings.EDFI_API, "CHANGE_HANDLERS": (handlers.__name__,)}
    monkeypatch.setattr(handlers, "FAILING", {"NK#studentUniqueId=1"})
    monkeypatch.setattr(handlers, "SEEN", [])
    monkeypatch.setattr(delivery, "_FIRST_PAUSE_SECONDS", 0.001)
    return f"{handlers.__name__}.every"


@pytest.mark.usefixtures("year")
def test_a_result_that_a_handler_refuses_is_a_dead_letter_of_its_data_store(
    make_store, client_of, bodies, failing_handler
):
    stores = [make_store(name, schoolYear=name) for name in ("2026", "2027")]
    client = client_of(*stores)
    for store, unique_id in zip(stores, ("1", "2"), strict=True):
        client.at(f"/{store.name}").post(STUDENTS, bodies | {"studentUniqueId": unique_id})
        run("run_validation", "--data-store", store.name)

    run("run_handlers", "--once", "--all-data-stores", "--handler", failing_handler)

    assert handlers.SEEN == [("every", "appeared", "NK#studentUniqueId=2")]
    letters = [DeadLetter.objects.using(alias_of(read_table().stores[store.pk].primary)) for store in stores]
    assert [list(each.values_list("natural_key", flat=True)) for each in letters] == [["NK#studentUniqueId=1"], []]
    handled = json.loads(letters[0].get().change)
    assert (handled["dataStore"], handled["context"]) == (stores[0].pk, {"schoolYear": "2026"})


def _assert_pages_are_of(store, student, *, finds):
    """The admin's pages of validation."""
    admin = Client()
    admin.force_login(User.objects.get_or_create(username="admin", is_staff=True, is_superuser=True)[0])

    def page(address):
        return admin.get(f"/admin/{address}", {"store": store.pk}, follow=True).content.decode()

    results = page("validation/validationresult/")
    assert (f"studentUniqueId={student['studentUniqueId']}<" in results) == finds
    assert "S-1" in page("validation/validationrule/")
    assert "Completed" in page("validation/validationrun/")
    overview = page("validation/validationresult/overview/")
    assert store.name in overview
    assert ("tests/S-1" in overview) == finds
    with connections[f"store_{store.pk}_1"].cursor() as cursor:
        cursor.execute("SELECT id FROM document")
        for (row,) in cursor.fetchall():
            assert "validation/validationresult/" in page(f"edfi_api/document/{row}/change/")
    added = admin.post(f"/admin/sql_views/sqlreader/add/?store={store.pk}", {"role": "analyst", "organization": ""})
    assert added.status_code == 302
    assert [reader.role for reader in SqlReader.objects.using(f"store_{store.pk}_1").all()] == ["analyst"]
    assert not SqlReader.objects.using("default").exists()
    assert "analyst" in page("sql_views/sqlreader/")


def test_one_failure_of_several_is_named_after_all_were_tried(year, make_store, store_databases):
    make_store("fine", schoolYear="2026")
    away = make_store("away", connection=store_databases.url_of("away"), schoolYear="2027")

    with pytest.raises(CommandError, match=f"failed for 1 of 2 data stores: {away.pk} away"):
        run("verify_integrity", "--all-data-stores")


def test_all_is_what_is_online(year, make_store):
    set_state(make_store("closed", connection="dbname=x", schoolYear="2026"), State.READ_ONLY)

    with pytest.raises(CommandError, match="No data store is online"):
        run("purge_changes", "--all-data-stores")


def test_housekeeping_purges_stores_instead_of_a_admin_database_without_documents(year, make_store):
    make_store("2027", schoolYear="2027")

    done = run("housekeeping")

    assert "purge_changes: done" in done
    assert [line for line in done if line.startswith("0 superseded")] == [
        "0 superseded versions and the bodies of 0 deleted documents purged"
    ]


def test_a_table_is_loaded_into_the_named_data_store_of_its_client(stores, client_of, tmp_path):
    first, second = stores
    client_of(first, name="office")
    client_of(second, name="neighbours")
    table = tmp_path / "students.csv"
    table.write_text("studentUniqueId,firstName,lastSurname,birthDate\n0042,Mae,Ortiz,2010-02-03\n")
    command = ("import_table", str(table), "--resource", "students")

    dry = run(*command, "--client", "office", "--data-store", "2026", "--dry-run")
    loaded = run(*command, "--client", "office", "--data-store", "2026")
    repeated = run(*command, "--client", "office", "--data-store", "2026")

    assert dry == ["1 created, 0 updated, 0 unchanged, 0 refused", "dry run: nothing was written"]
    assert loaded == ["1 created, 0 updated, 0 unchanged, 0 refused"]
    assert repeated == ["0 created, 0 updated, 1 unchanged, 0 refused"]
    for store, stored in ((first, 1), (second, 0)):
        found = client_of(store, name=f"reader of {store.pk}").at(f"/{store.name}").get("/students").json()
        assert [each["studentUniqueId"] for each in found] == ["0042"] * stored
    with pytest.raises(CommandError, match="The client may not use this database"):
        run(*command, "--client", "neighbours", "--data-store", "2026")
    with pytest.raises(CommandError, match=r"^Say which: --data-store\. There are: "):
        run(*command, "--client", "office")
