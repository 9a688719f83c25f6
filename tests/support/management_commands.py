"""Management commands in the process of the tests."""

from io import StringIO
from typing import Any, NamedTuple

from django.core.management import call_command


class Printed(NamedTuple):
    """Standard output and standard error of a command."""

    out: str
    err: str


def printed(command: str, *arguments: object, **options: Any) -> Printed:
    """Runs a command. Raises CommandError as it does."""
    out, err = StringIO(), StringIO()
    call_command(command, *map(str, arguments), stdout=out, stderr=err, **options)
    return Printed(out.getvalue(), err.getvalue())


def run(command: str, *arguments: object, **options: Any) -> list[str]:
    """The lines of a command's standard output."""
    return printed(command, *arguments, **options).out.splitlines()
