"""`run_exchange`: follow all enabled connections, each in a process of its own."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from edfi_api.features.exchange.management.stopping import stop_event
from edfi_api.features.exchange.management.trust_options import add_trust
from edfi_api.features.exchange.workers import Workers, enabled_connections


class Command(BaseCommand):
    """See the module."""

    help = (
        "Pulls and pushes for all enabled connections, until it gets SIGTERM or Ctrl-C. Connections that are enabled, "
        "disabled or changed meanwhile are noticed within seconds. It may run on several hosts: each connection is "
        "followed by one of them. make run starts it when there are enabled connections, docker/compose.yaml always."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--list", dest="is_listed", action="store_true", help="print what would be followed, and follow nothing"
        )
        add_trust(parser)

    def handle(self, **options: Any) -> None:
        if options["is_listed"]:
            for followed in enabled_connections():
                self.stdout.write(f"{followed.name}: {followed.command}")
            return
        passed_on = ["--ca", str(options["ca"])] if options["ca"] else []
        passed_on += ["--insecure"] if options["insecure"] else []
        with stop_event() as stop:
            Workers(passed_on).run(stop)
