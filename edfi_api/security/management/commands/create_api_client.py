"""`create_api_client NAME --claim-set X`: make an API client and print its key and secret, once.

A name is given once. If it is taken the command fails and names the key of the client that has it; with
`--if-exists keep` it reports that client and succeeds, with `--if-exists new-secret` it gives the client a new
secret. Neither changes anything else about a client that exists.
"""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from edfi_api.security.clients import create_client, replace_secret
from edfi_api.security.models import ApiClient


class Command(BaseCommand):
    """See the module."""

    help = "Make an API client; its key and secret are printed once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="what people call the client; unique")
        parser.add_argument("--claim-set", required=True, help="name of the claim set that says what it may do")
        parser.add_argument(
            "--education-organization-id", type=int, action="append", default=[], metavar="ID", help="repeatable"
        )
        parser.add_argument("--namespace-prefix", action="append", default=[], metavar="PREFIX", help="repeatable")
        parser.add_argument("--key", help="instead of a generated key")
        parser.add_argument(
            "--if-exists",
            choices=["refuse", "keep", "new-secret"],
            default="refuse",
            help="what to do if a client has this name already",
        )
        parser.add_argument("--format", choices=["text", "json"], default="text")

    def handle(self, **options: Any) -> None:
        existing = ApiClient.objects.filter(name=options["name"]).first()
        key, secret = self._create(options) if existing is None else self._reuse(existing, options["if_exists"])
        self.stdout.write(_FORMATS[options["format"]](options["name"], key, secret))

    def _create(self, options: dict[str, Any]) -> tuple[str, str]:
        try:
            credentials = create_client(
                options["name"],
                options["claim_set"],
                options["education_organization_id"],
                options["namespace_prefix"],
                options["key"],
            )
        except ValidationError as error:
            raise CommandError(_in_one_line(error)) from error
        return credentials.key, credentials.secret

    def _reuse(self, client: ApiClient, if_exists: str) -> tuple[str, str | None]:
        if if_exists == "refuse":
            raise CommandError(f'There is an API client "{client.name}" already; its key is {client.client_id}.')
        if if_exists == "keep":
            return client.client_id, None
        return client.client_id, replace_secret(client).secret


def _in_one_line(error: ValidationError) -> str:
    return "; ".join(
        f"{ApiClient._meta.get_field(field).verbose_name}: {' '.join(messages)}"
        for field, messages in error.message_dict.items()
    )


def _as_text(name: str, key: str, secret: str | None) -> str:
    shown = secret or "(shown when it was made; --if-exists new-secret replaces it)"
    return f"API client  {name}\nkey         {key}\nsecret      {shown}"


def _as_json(name: str, key: str, secret: str | None) -> str:
    return json.dumps({"name": name, "key": key, "secret": secret})


_FORMATS = {"text": _as_text, "json": _as_json}
