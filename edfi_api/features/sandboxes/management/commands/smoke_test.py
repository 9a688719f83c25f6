"""`manage.py smoke_test --shape sis`: the example requests, sent to a running server."""

import os
import secrets
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from edfi_api.common.commands import name
from edfi_api.core.data_stores.data_store_command import add_tenant, needed_tenant
from edfi_api.features.sandboxes.creating import Wanted, address_of, create_sandbox, default_address, drop_sandbox
from edfi_api.features.sandboxes.exceptions import SandboxFailed
from edfi_api.features.sandboxes.models import Shape
from edfi_api.features.sandboxes.request_files import file_of, send_all, send_over_http

_VARIABLE = "SMOKE_TEST_SECRET"
_HOURS = 1


class Command(BaseCommand):
    help = (
        "Sends the example requests of a kind of client (meadowlark/docs/use/requests) to a running server: token, "
        "discovery, descriptors, writes, reads, pages, a deliberate error, an extract, changes. Without --key it makes "
        "a sandbox for them, and drops it. The exit status is 1 if an answer is not the expected one."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--shape", choices=Shape.values, default=Shape.SIS.value, help="default: sis")
        parser.add_argument("--address", default=default_address(), metavar="URL", help="default: this machine")
        parser.add_argument("--key", type=name, help=f"of a client, whose secret is in the variable {_VARIABLE}")
        add_tenant(parser, "tenant of the sandbox")

    def handle(self, *args: Any, **options: Any) -> None:
        shape, failed = Shape(options["shape"]), 0
        with _client(shape, options) as given, send_over_http() as send:
            for outcome in send_all(file_of(shape), given, send):
                failed += bool(outcome.failure)
                mark, status = "FAILED" if outcome.failure else "ok", outcome.status or "-"
                title = outcome.request.title or outcome.request.name
                reason = f": {outcome.failure}" if outcome.failure else ""
                self.stdout.write(f"{mark:<7}{status}  {outcome.request.method:<6} {title}{reason}")
        if failed:
            raise CommandError(f"{failed} requests failed.")


@contextmanager
def _client(shape: Shape, options: dict[str, Any]) -> Iterator[dict[str, str]]:
    """Address, key and secret: those that are given, or those of a sandbox that is dropped afterwards."""
    if options["key"]:
        secret = os.environ.get(_VARIABLE)
        if not secret:
            raise CommandError(f"The variable {_VARIABLE} is not set.")
        yield {"address": options["address"], "key": options["key"], "secret": secret}
        return
    ends = timezone.now() + timedelta(hours=_HOURS)
    wanted = Wanted(f"smoke-test-{secrets.token_hex(4)}", shape, expires_at=ends, tenant=needed_tenant(options))
    try:
        made = create_sandbox(wanted)
    except SandboxFailed as error:
        raise CommandError(str(error)) from error
    try:
        address = address_of(made.sandbox, options["address"])
        yield {"address": address, "key": made.credentials.key, "secret": made.credentials.secret}
    finally:
        drop_sandbox(wanted.name)
