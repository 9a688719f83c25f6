"""A pytest plugin: the documents of tests lie in a data store, and the admin database has no tables of documents.

`python -m pytest -p tests.support.in_a_store tests/web/viewsets` (`make test IN_A_STORE=yes`) runs the same tests as
without it. All clients are assigned the data store, so the addresses stay as they are. Code of the server that does not
name the database of a document fails, since the admin database has no table for it; only tests themselves may leave
it to `_RouterOfTests`.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any, cast

import django.test
import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import DEFAULT_DB_ALIAS, connections, router
from django.db.models import Model
from django.test import Client
from psycopg.conninfo import make_conninfo

from tests.support import databases

TESTS = Path(__file__).parents[1]
_STORE = "store_1_1"
databases.lie_in(_STORE)

# Tests, by the beginning of their ids, and why they differ in a data store.
_COMMAND = "A command says which data store."
_VIEW = "A view of a custom strategy is looked for in the admin database too."
_STRATEGIES = "tests/core/security/strategies/test_custom_views.py::test_"
_LEFT_OUT = {
    "tests/features/changes/change_queries/test_restoring.py": _COMMAND,
    f"{_STRATEGIES}claim_sets_are_loaded_if_their_views_exist": _VIEW,
    f"{_STRATEGIES}checks_report_missing_views": _VIEW,
    f"{_STRATEGIES}the_admin_accepts_existing_views": _VIEW,
    f"{_STRATEGIES}the_example_of_the_page_works_as_written": _VIEW,
    "tests/web/batch/test_record.py::test_operations_and_batches_are_counted": "/metrics has the lag of consumers of "
    "the admin database, whose tables there are in production.",
}
# What records its migrations.
_OF_EVERY_DATABASE = {"django_migrations", "migration_digest"}
_PAGES_OF_A_STORE = tuple(
    f"/admin/{app}/"
    for app in ("edfi_api", "change_queries", "change_stream", "descriptors", "sql_views", "validation")
)
_ASSIGN_TO_EVERY_CLIENT = """
CREATE FUNCTION assign_to_every_client() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO api_client_data_store (api_client_id, data_store_id) VALUES (NEW.id, 1);
    RETURN NULL;
END $$;
CREATE TRIGGER assign_to_every_client AFTER INSERT ON security_apiclient
    FOR EACH ROW EXECUTE FUNCTION assign_to_every_client();
"""


def pytest_configure() -> None:
    setattr(django.test, "Client", _ClientOfStore)  # noqa: B010  A type of Django is replaced.
    settings.EDFI_API |= {"STORE_KEYS": ("a key of tests",), "MAIN_STORE": False}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    left_out = [item for item in items if item.nodeid.startswith(tuple(_LEFT_OUT)) or _migrates(item)]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]
    for item in items:
        if "db" in getattr(item, "fixturenames", ()) and item.get_closest_marker("django_db") is None:
            item.add_marker(pytest.mark.django_db(databases=list(databases.ALL)))
    for marker in [each for item in items for each in item.iter_markers("django_db")]:
        cast(dict[str, Any], marker.kwargs).setdefault("databases", list(databases.ALL))


def _migrates(item: pytest.Item) -> bool:
    """Whether Django empties all tables after it and sends `post_migrate`, which fills those of documents too."""
    is_marked = any(marker.kwargs.get("transaction") for marker in item.iter_markers("django_db"))
    return is_marked or {"db", "transactional_db"} <= set(getattr(item, "fixturenames", ()))


@pytest.fixture(scope="session", autouse=True)
def _documents_in_a_store(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    from tests.support import superuser  # noqa: PLC0415  Django is set up by now.

    with django_db_blocker.unblock():
        name = f"{connections[DEFAULT_DB_ALIAS].settings_dict['NAME']}_documents"
        superuser.drop_database(name, databases.database_url())
        with connections[DEFAULT_DB_ALIAS]._nodb_cursor() as cursor:
            cursor.execute(f'CREATE DATABASE "{name}" TEMPLATE template0')
        _register(name)
        call_command("migrate", database=_STORE, verbosity=0)
        _drop_tables_of_documents()
        router.routers.insert(0, _RouterOfTests())
    yield
    with django_db_blocker.unblock():
        connections[_STORE].close()
        superuser.drop_database(name, databases.database_url())


def _register(name: str) -> None:
    from edfi_api.core.data_stores.databases import alias_of  # noqa: PLC0415  Django is set up by now.
    from edfi_api.core.data_stores.models import DataStore, State  # noqa: PLC0415
    from edfi_api.core.data_stores.routing_cache import read_table  # noqa: PLC0415
    from edfi_api.core.data_stores.stores import create_data_store  # noqa: PLC0415

    store = create_data_store("documents of tests", connection=_connection_string(name), state=State.ONLINE)
    assert DataStore.objects.get().pk == store.pk == 1
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        cursor.execute(_ASSIGN_TO_EVERY_CLIENT)
    assert alias_of(read_table().stores[1].primary) == _STORE


def _connection_string(name: str) -> str:
    control = connections[DEFAULT_DB_ALIAS]
    control.ensure_connection()
    info = control.connection.info
    return make_conninfo(host=info.host, port=info.port, user=info.user, password=info.password or None, dbname=name)


def _drop_tables_of_documents() -> None:
    """Drop the tables that the data store has, too."""
    store = connections[_STORE]
    with store.cursor() as cursor:
        of_store = {each.name for each in store.introspection.get_table_list(cursor) if each.type != "v"}
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        for table in sorted(of_store - _OF_EVERY_DATABASE):
            cursor.execute(f'DROP TABLE IF EXISTS "{table}" CASCADE')


class _RouterOfTests:
    """Where the models of documents lie for the tests. The server's own code has to say it."""

    def db_for_write(self, model: type[Model], instance: Model | None = None, **_: Any) -> str | None:
        # Pages of the admin are in a transaction of the admin database, where the log of actions lies.
        is_of_page = "/django/contrib/admin/" in sys._getframe(2).f_code.co_filename
        return None if is_of_page else self.db_for_read(model, instance)

    def db_for_read(self, model: type[Model], instance: Model | None = None, **_: Any) -> str | None:
        from edfi_api.core.data_stores.provisioning_state import DATA_APPS  # noqa: PLC0415

        if model._meta.app_label not in DATA_APPS:
            return None
        if instance is not None and instance._state.db is not None:
            return instance._state.db
        caller = _caller(sys._getframe(1))
        assert TESTS in caller.parents, f"{caller} does not name the database of {model._meta.label}"
        return _STORE


class _ClientOfStore(Client):
    """Names the data store in addresses of the admin, as all its links do."""

    def request(self, **environ: Any) -> Any:
        if environ["PATH_INFO"].startswith(_PAGES_OF_A_STORE):
            environ["QUERY_STRING"] = "&".join(filter(None, [environ.get("QUERY_STRING", ""), "store=1"]))
        return super().request(**environ)


def _caller(frame: FrameType | None) -> Path:
    """The innermost file that is not Django's."""
    while frame is not None and "/django/" in frame.f_code.co_filename:
        frame = frame.f_back
    assert frame is not None
    return Path(frame.f_code.co_filename)
