"""`check_connection NAME`: try a connection, and say what would and what would not pass."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from edfi_api.common.arguments import name
from edfi_api.common.commands import ReportingCommand
from edfi_api.common.logs.printable import counted, printable
from edfi_api.core.startup import current_surface
from edfi_api.features.exchange.checking_connections import CheckedConnection, check
from edfi_api.features.exchange.management.trust_options import ERRORS_OF_CONNECTIONS, add_trust, given_trust
from edfi_api.features.exchange.remote_api import RemoteApi
from edfi_api.features.exchange.stored_connections import connection_named

_MOST_NAMED = 10


class Command(ReportingCommand):
    """See the module."""

    error_texts = ERRORS_OF_CONNECTIONS
    help = (
        "Gets a token from the remote API of a connection, reads what it is and offers, and compares data standard, "
        "extensions and resources. The exit status is 1 if documents cannot pass."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", type=name, help="name of the connection")
        add_trust(parser)

    def handle(self, **options: Any) -> None:
        connection = connection_named(options["name"])
        api = RemoteApi(connection, given_trust(options))
        try:
            found = check(connection, api, current_surface())
        finally:
            api.close()
        for line in _lines(found):
            self.stdout.write(printable(line))
        if found.faults:
            raise CommandError(printable("; ".join(found.faults)))
        self.stdout.write("it works")


def _lines(found: CheckedConnection) -> list[str]:
    lines = [f"the remote API is version {found.version}"]
    for project in sorted(found.models_there.keys() | found.models_here.keys()):
        there, here = found.models_there.get(project, "-"), found.models_here.get(project, "-")
        lines.append(f"{project}: {there} there, {here} here")
    lines.append(f"{counted(len(found.selected), 'resource')} selected on both sides")
    for what, paths in (("not here", found.only_there), ("not there", found.only_here)):
        if paths:
            more = f" and {len(paths) - _MOST_NAMED} more" if len(paths) > _MOST_NAMED else ""
            lines.append(f"{what}: {', '.join(paths[:_MOST_NAMED])}{more}")
    for what, allowed in (("read", found.readable), ("write", found.writable)):
        if allowed is None:
            lines.append(f"what the client may {what} is not said there")
        else:
            lines.append(f"the client may {what} {len(allowed & set(found.selected))} of the selected resources")
    lines.append(f"the remote API lacks: {', '.join(found.missing) or 'nothing'}")
    return lines
