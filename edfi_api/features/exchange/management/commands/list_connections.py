"""`list_connections`: list the connections to other APIs, one line each; `--format json` for programs."""

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from edfi_api.features.exchange.models import Connection
from edfi_api.features.exchange.stored_connections import current_phase


class Command(BaseCommand):
    """See the module."""

    help = "Lists the connections to other APIs with their state. Secrets are not shown."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--format", choices=["text", "json"], default="text", help="of what is printed (default text)"
        )

    def handle(self, **options: Any) -> None:
        rows = [_described(each) for each in Connection.objects.select_related("api_client", "data_store", "state")]
        self.stdout.write(json.dumps(rows, indent=2) if options["format"] == "json" else _table(rows))


def _described(connection: Connection) -> dict[str, Any]:
    state = getattr(connection, "state", None)
    return {
        "name": connection.name,
        "direction": connection.direction,
        "address": connection.address,
        "dataStore": connection.data_store.name if connection.data_store else None,
        "apiClient": connection.api_client.client_id,
        "enabled": "yes" if connection.is_enabled else "no",
        "state": str(current_phase(connection, state)),
        "position": state.position if state else None,
        "newest": state.newest if state else None,
        "accepted": state.accepted if state else 0,
        "refused": state.refused if state else 0,
        "failure": state.failure if state else "",
    }


def _table(rows: list[dict[str, Any]]) -> str:
    if not rows:
        return "There are no connections."
    lines = [list(rows[0]), *([str("-" if value in (None, "") else value) for value in row.values()] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)
