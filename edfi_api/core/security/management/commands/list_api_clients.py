"""`list_api_clients`: list the API clients, one line each; `--format json` for programs."""

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from edfi_api.core.security.models import ApiClient


class Command(BaseCommand):
    """See the module."""

    help = "Lists the API clients with their application, claim set, organizations, namespace prefixes and profiles."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--format", choices=["text", "json"], default="text", help="of what is printed (default text)"
        )

    def handle(self, **options: Any) -> None:
        clients = ApiClient.objects.select_related("application__vendor", "external_identity")
        clients = clients.prefetch_related("application__profiles")
        rows = [_described(client) for client in clients]
        self.stdout.write(json.dumps(rows, indent=2) if options["format"] == "json" else _table(rows))


def _described(client: ApiClient) -> dict[str, Any]:
    return {
        "name": client.name,
        "key": client.client_id,
        "status": "active" if client.is_usable(None) else "expired" if client.is_active else "disabled",
        "expires": client.expires_at.isoformat(timespec="minutes") if client.expires_at else None,
        "vendor": client.application.vendor.name,
        "application": client.application.name,
        "claimSet": client.application.claim_set_shown,
        "educationOrganizationIds": client.application.education_organization_ids,
        "namespacePrefixes": client.application.vendor.namespace_prefixes,
        "externalIdentity": _external(client),
        "profiles": [profile.name for profile in client.application.profiles.all()],
    }


def _external(client: ApiClient) -> dict[str, str] | None:
    identity = getattr(client, "external_identity", None)
    return None if identity is None else {"issuer": identity.issuer, "value": identity.value}


def _table(rows: list[dict[str, Any]]) -> str:
    if not rows:
        return "There are no API clients."
    lines = [list(rows[0]), *([_cell(value) for value in row.values()] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)


def _cell(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(map(str, value)) or "-"
    if isinstance(value, dict):
        return "{value} of {issuer}".format_map(value)
    return value or "-"
