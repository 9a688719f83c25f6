"""The commands of SQL views, and SQL in the database that has the views."""

from django.db import DatabaseError, connection, transaction

from tests.support.management_commands import printed


def run(command: str, *arguments: str) -> str:
    """What a command prints on standard output and standard error."""
    return "".join(printed(command, *arguments))


def query(statement: str, *parameters: object) -> list[tuple]:
    """The rows of a statement; none if it returns no rows."""
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters or None)
        return cursor.fetchall() if cursor.description else []


def refusal(identity: str, statement: str) -> str:
    """The message with which PostgreSQL refuses a statement after `SET LOCAL identity`; empty if it does not."""
    try:
        with transaction.atomic():
            query(f"SET LOCAL {identity}")
            query(statement)
            transaction.set_rollback(True)
    except DatabaseError as error:
        return str(error)
    return ""
