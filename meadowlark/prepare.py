"""Makes an empty database ready to be served, and leaves one that is ready as it is.

    python -m meadowlark.prepare [--demo-client NAME CLAIM_SET]

What the steps tell goes to standard error; standard output is one line of JSON about the demo client, if asked for.
"""

import argparse
import os
import sys
from collections.abc import Sequence

import django
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import DatabaseError

from edfi_api.apischema.errors import ApiSchemaError
from edfi_api.metaed import ModelErrors


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; see the module's text."""
    parser = argparse.ArgumentParser(prog="python -m meadowlark.prepare", description=__doc__.split("\n")[0])
    parser.add_argument(
        "--demo-client", nargs=2, metavar=("NAME", "CLAIM_SET"), help="make a client to try the API with, once"
    )
    options = parser.parse_args(arguments)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "meadowlark.settings")
    try:
        django.setup()
    except (ImproperlyConfigured, ValueError) as error:
        return _refuse(f"The settings cannot be used: {error}")
    try:
        prepare_database()
        if options.demo_client:
            make_demo_client(*options.demo_client)
    except (CommandError, ImproperlyConfigured, ModelErrors, ApiSchemaError) as error:
        return _refuse(str(error))
    except DatabaseError as error:
        return _refuse(f"The database cannot be used: {error}")
    return 0


def prepare_database() -> None:
    """Tables, descriptors and school years; each step does only what is still missing."""
    call_command("migrate", verbosity=0, interactive=False, skip_checks=False)
    call_command("load_descriptors", stdout=sys.stderr)
    call_command("load_school_years", "1990-2040", "--current", "2026", stdout=sys.stderr)


def make_demo_client(name: str, claim_set: str) -> None:
    """Its key and secret on standard output; no secret when it was there already."""
    call_command("create_api_client", name, "--claim-set", claim_set, "--if-exists", "keep", "--format", "json")


def _refuse(reason: str) -> int:
    sys.stderr.write(f"{reason.strip()}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
