"""`manage.py create_sandbox NAME --shape sis|assessment|warehouse [--populated] [--expires 30d]`"""

import json
import re
from argparse import ArgumentParser
from datetime import datetime, timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from edfi_api.common.commands import name, timestamp
from edfi_api.core.data_stores.data_store_command import add_tenant, needed_tenant
from edfi_api.core.security.models import Vendor
from edfi_api.features.loading.management.commands.provision_data_store import pairs
from edfi_api.features.sandboxes.creating import Wanted, address_of, create_sandbox, default_address, link_of
from edfi_api.features.sandboxes.exceptions import SandboxFailed
from edfi_api.features.sandboxes.models import Sandbox, Shape

_DAYS = re.compile(r"(\d{1,4})d")


class Command(BaseCommand):
    help = (
        "Makes a sandbox: a data store of its own with descriptors, school years, a state agency, a district and three "
        "schools, and a client with the standard claim set for its kind. Key and secret are printed once, with a link "
        "that shows the secret once. A sandbox that exists is reported and left as it is."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", type=name, help="up to 24 lower-case letters, digits and hyphens")
        parser.add_argument("--shape", choices=Shape.values, required=True, help="the kind of the client")
        parser.add_argument("--populated", action="store_true", help="with the demo district of 200 students")
        parser.add_argument("--expires", type=_end, metavar="END", help="30d, or a date; without it there is no end")
        parser.add_argument("--vendor", type=name, help="an existing vendor; default: a new one of the same name")
        parser.add_argument(
            "--context", type=pairs, default={}, metavar="K=V,K=V", help="values of qualifiers: schoolYear=2027"
        )
        add_tenant(parser, "tenant whose sandbox it is")
        parser.add_argument("--address", default=default_address(), metavar="URL", help="of the server, as printed")
        parser.add_argument("--format", choices=["text", "json"], default="text", help="of what is printed")

    def handle(self, *args: Any, **options: Any) -> None:
        existing = Sandbox.objects.filter(name=options["name"]).select_related("client", "data_store").first()
        facts = _made(options) if existing is None else _existing(existing, options)
        shown = json.dumps(facts) if options["format"] == "json" else _text(facts)
        self.stdout.write(shown)


def _existing(sandbox: Sandbox, options: dict[str, Any]) -> dict[str, Any]:
    wanted, found = (options["shape"], options["populated"]), (sandbox.shape, sandbox.is_populated)
    if wanted != found:
        has = "populated" if sandbox.is_populated else "not populated"
        raise CommandError(f"There is a sandbox {sandbox} already, of the shape {sandbox.shape}, {has}.")
    return _facts(sandbox, options["address"]) | {"secret": None, "link": None}


def _made(options: dict[str, Any]) -> dict[str, Any]:
    tenant, vendor = needed_tenant(options), None
    if options["vendor"]:
        vendor = Vendor.objects.filter(tenant=tenant, name=options["vendor"]).first()
        if vendor is None:
            raise CommandError(f'There is no vendor "{options["vendor"]}".')
    wanted = Wanted(
        options["name"],
        Shape(options["shape"]),
        options["populated"],
        options["expires"],
        vendor,
        tenant,
        options["context"],
    )
    try:
        made = create_sandbox(wanted)
    except SandboxFailed as error:
        raise CommandError(f"There is no sandbox {wanted.name}. {error}") from error
    link = link_of(options["address"], made.link_token)
    return _facts(made.sandbox, options["address"]) | {"secret": made.credentials.secret, "link": link}


def _facts(sandbox: Sandbox, address: str) -> dict[str, Any]:
    ends = sandbox.client.expires_at
    return {
        "name": sandbox.name,
        "shape": sandbox.shape,
        "address": address_of(sandbox, address),
        "key": sandbox.client.client_id,
        "expiresAt": ends and ends.isoformat(timespec="seconds"),
    }


def _text(facts: dict[str, Any]) -> str:
    secret = facts["secret"] or "(shown when it was made; rotate_secret gives it another one)"
    lines = {
        "sandbox": f"{facts['name']} ({facts['shape']})",
        "address": facts["address"],
        "key": facts["key"],
        "secret": secret,
        "link": facts["link"],
        "ends": facts["expiresAt"] or "never",
    }
    return "\n".join(f"{name:<8} {value}" for name, value in lines.items() if value)


def _end(given: str) -> datetime:
    """`30d`, or a date."""
    if days := _DAYS.fullmatch(given):
        return timezone.now() + timedelta(days=int(days[1]))
    return timestamp(given)
