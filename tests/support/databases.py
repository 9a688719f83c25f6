"""Where the documents of tests lie: in the admin database, or in that of a data store (`in_a_store.py`)."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from django.db import DEFAULT_DB_ALIAS, connections, transaction
from django.utils.connection import ConnectionProxy

# Set before any test is imported.
DOCUMENTS = DEFAULT_DB_ALIAS
ALL: tuple[str, ...] = (DEFAULT_DB_ALIAS,)
connection = ConnectionProxy(connections, DOCUMENTS)


def lie_in(alias: str) -> None:
    """Let the documents of this run lie in another database than clients and tokens."""
    global DOCUMENTS, ALL, connection
    DOCUMENTS, ALL, connection = alias, (DEFAULT_DB_ALIAS, alias), ConnectionProxy(connections, alias)


@contextmanager
def rolled_back() -> Iterator[None]:
    """Rolls back what is written within the context, wherever it lies."""
    with ExitStack() as stack:
        for alias in ALL:
            stack.enter_context(transaction.atomic(using=alias))
        yield
        for alias in ALL:
            transaction.set_rollback(True, using=alias)


def database_url() -> str:
    """The address of the database of the tests, for a process."""
    settings = connections[DEFAULT_DB_ALIAS].settings_dict
    host = settings["HOST"] or settings["OPTIONS"].get("host", "")
    url = f"postgresql://{settings['USER']}:{settings['PASSWORD']}@/{settings['NAME']}?host={host}"
    return f"{url}&port={settings['PORT']}" if settings["PORT"] else url


def has_documents() -> bool:
    """Whether there are documents, or rows of what is derived from them."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT EXISTS (TABLE document) OR EXISTS (TABLE organization_closure) OR EXISTS (TABLE reached_document)"
        )
        return bool(cursor.fetchone() == (True,))
