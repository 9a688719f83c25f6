"""`check_connection NAME`: try a connection, and say what would and what would not pass."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from django.core.management.base import CommandError

from edfi_api.common.commands import ReportingCommand, name
from edfi_api.common.logs.printable import counted, printable
from edfi_api.core.served import current_surface
from edfi_api.features.exchange.capabilities import Capabilities
from edfi_api.features.exchange.management.exchange_commands import ERRORS_OF_CONNECTIONS, add_trust, given_trust
from edfi_api.features.exchange.models import Connection
from edfi_api.features.exchange.remote_api import RemoteApi
from edfi_api.features.exchange.resource_selection import SelectionMode, selected, targets_of
from edfi_api.features.exchange.stored_connections import connection_named
from edfi_api.model.surface.resource import Surface

_MOST_NAMED = 10

_READ = frozenset({"Read"})
_WRITE = frozenset({"Create", "Update", "Delete"})


@dataclass(slots=True)
class CheckedConnection:
    """The result of a check. `readable` and `writable` are paths of resources, None if the remote API does not say;
    `faults` are what keeps documents from passing."""

    version: str
    models_there: dict[str, str]
    models_here: dict[str, str]
    missing: list[str]
    selected: list[str]
    only_there: list[str]
    only_here: list[str]
    readable: set[str] | None
    writable: set[str] | None
    faults: list[str] = field(default_factory=list)


def check(connection: Connection, api: RemoteApi, surface: Surface) -> CheckedConnection:
    """Raises RemoteFailed, and UnknownResources for the selection."""
    capabilities = Capabilities.read(api)
    here, there = set(targets_of(surface)), set(capabilities.resources)
    chosen = selected(SelectionMode(connection.selection), connection.resources, targets_of(surface))
    granted = _granted(api)
    found = CheckedConnection(
        version=f"{api.discovery.version} {api.discovery.informational_version}".strip(),
        models_there=dict(api.discovery.data_models),
        models_here={project.name: project.version for project in surface.projects},
        missing=capabilities.missing,
        selected=sorted(chosen & there),
        only_there=sorted(there - here),
        only_here=sorted(chosen - there),
        readable=None if granted is None else {path for path, ops in granted.items() if ops & _READ},
        writable=None if granted is None else {path for path, ops in granted.items() if ops & _WRITE},
    )
    found.faults += _faults(found, connection.direction)
    return found


def _faults(found: CheckedConnection, direction: str) -> Iterator[str]:
    core_here, core_there = found.models_here.get("Ed-Fi"), found.models_there.get("Ed-Fi")
    if core_here != core_there:
        yield f"the data standard there is {core_there or 'not said'}, here it is {core_here}"
    allowed = found.readable if direction == "pull" else found.writable
    if allowed is not None and not allowed & set(found.selected):
        yield f"the client may {'read' if direction == 'pull' else 'write'} none of the selected resources"


def _granted(api: RemoteApi) -> dict[str, set[str]] | None:
    """Return what the client may do with each resource, as the introspection of its token says; None if it does not."""
    answer = api.introspection()
    listed: Any = answer.get("resources") if isinstance(answer, dict) else None
    if not isinstance(listed, list):
        return None
    return {
        str(each["resource"]).strip("/"): set(map(str, each.get("operations") or ()))
        for each in listed
        if isinstance(each, dict) and "resource" in each
    }


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
