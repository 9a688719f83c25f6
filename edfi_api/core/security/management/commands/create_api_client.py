"""`create_api_client NAME --claim-set X`: create an API client and print its key and secret, once.

It belongs to a new application of the same name, and that to a vendor: of the same name too, unless `--vendor` names
one. With `--application` it is another client of an existing application, with that application's rights and profiles.

A name is unique within an application. If the name exists (within `--application` or `--vendor`, if given) the command
fails and prints the key of the client that has it; with
`--if-exists keep` it reports that client and succeeds, with `--if-exists new-secret` it gives the client a new
secret. Neither changes anything else about a client that exists.

With `--external` it comes with tokens of an identity provider (meadowlark/docs/operate/identity-providers.md) and gets
no secret; `rotate_secret` gives it one.

Key and secret go to standard output; warnings_about about the claim set go to standard error.
"""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError
from django.db import transaction

from edfi_api.common.commands import ReportingCommand, text, timestamp
from edfi_api.core.data_stores.data_store_command import add_tenant, needed_tenant
from edfi_api.core.data_stores.models import Tenant
from edfi_api.core.data_stores.routing import NoSuchDataStore
from edfi_api.core.security.claims.validation import warnings_about
from edfi_api.core.security.clients import COMMAND, add_client, create_client, rotate_secret
from edfi_api.core.security.credentials import Credentials
from edfi_api.core.security.management.named_client import application_named, stores_of_tenant, the_only
from edfi_api.core.security.models import ApiClient, Application, ExternalIdentity
from edfi_api.core.security.profiles.loading import NoSuchProfiles, assign_profiles, notices, profiles_named
from edfi_api.core.served import current_surface
from edfi_api.model.profiles.checking import ProfileChecker


def _in_one_line(error: ValidationError) -> str:
    """All validation errors, with readable field names."""
    return "; ".join(
        f"{_FIELDS.get(name, name.replace('_', ' '))}: {' '.join(messages)}"
        for name, messages in error.message_dict.items()
    )


class Command(ReportingCommand):
    """See the module."""

    error_texts = {
        ValidationError: _in_one_line,
        NoSuchDataStore: str,
        NoSuchProfiles: lambda error: f"There are no profiles {error}.",
    }
    help = (
        "Creates an API client; its key and secret are printed once. A POST on a document that exists is authorized as "
        "Create, unless MEADOWLARK_UPSERT_ASKS_UPDATE is on: a claim set that creates people without further "
        "authorization lets its clients overwrite every person. EdFiSandbox and FullAccess filter no documents, "
        "whichever education organizations a client has."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", type=text, help="display name of the client; unique within its application")
        parser.add_argument("--claim-set", type=text, help="name of the claim set with its rights")
        parser.add_argument(
            "--education-organization-id",
            type=int,
            action="append",
            default=[],
            metavar="ID",
            help="id of an education organization; repeatable",
        )
        parser.add_argument(
            "--namespace-prefix",
            type=text,
            action="append",
            default=[],
            metavar="PREFIX",
            help="namespace prefix of the vendor; repeatable",
        )
        parser.add_argument("--vendor", type=text, help="vendor of the application; its namespace prefixes apply")
        parser.add_argument(
            "--profile",
            type=text,
            action="append",
            default=[],
            metavar="NAME",
            help="API profile that its application gets; repeatable",
        )
        parser.add_argument("--application", type=text, help="an existing application, instead of all of the above")
        parser.add_argument(
            "--data-store",
            type=text,
            action="append",
            default=[],
            metavar="STORE",
            help="data store that the client may use; repeatable",
        )
        add_tenant(parser, "tenant whose client it is")
        parser.add_argument(
            "--external",
            nargs=2,
            type=text,
            metavar=("ISSUER", "CLIENT"),
            help="it uses tokens of this identity provider, in which it is CLIENT, instead of a secret",
        )
        parser.add_argument("--key", type=text, help="use this key instead of a generated one")
        parser.add_argument("--expires", type=timestamp, metavar="TIME", help="2027-07-01, or with a time; UTC")
        parser.add_argument(
            "--if-exists",
            choices=["refuse", "keep", "new-secret"],
            default="refuse",
            help="what to do if a client with this name exists",
        )
        parser.add_argument(
            "--format", choices=["text", "json"], default="text", help="of what is printed (default text)"
        )

    def handle(self, **options: Any) -> None:
        _refuse_contradictions(options)
        existing = _existing(options)
        key, secret = _create(options) if existing is None else _reuse(existing, options["if_exists"])
        self.stdout.write(_FORMATS[options["format"]](options["name"], key, secret))
        if existing is None:
            self._print_notes(Application.objects.get(api_clients__client_id=key))

    def _print_notes(self, application: Application) -> None:
        checker = ProfileChecker(current_surface())
        of_profiles = (notice for profile in application.profiles.all() for notice in notices(profile, checker))
        for note in (*warnings_about(application), *of_profiles):
            self.stderr.write(f"Note: {note}")


def _refuse_contradictions(options: dict[str, Any]) -> None:
    of_an_application = ("claim_set", "education_organization_id", "namespace_prefix", "vendor", "profile")
    if not options["application"] and options["claim_set"] is None:
        raise CommandError("Say what it may do: --claim-set, or --application.")
    if options["application"] and any(options[name] for name in of_an_application):
        raise CommandError("What the client of an --application may do is said there.")


def _existing(options: dict[str, Any]) -> ApiClient | None:
    """The client of this name; of the application or the vendor, if one is named."""
    named = ApiClient.objects.filter(name=options["name"])
    if options["tenant"]:
        named = named.filter(application__vendor__tenant__name__iexact=options["tenant"])
    if options["application"]:
        named = named.filter(application__name=options["application"])
    elif options["vendor"]:
        named = named.filter(application__vendor__name=options["vendor"])
    return the_only(named, options["name"])


def _create(options: dict[str, Any]) -> tuple[str, str | None]:
    tenant = needed_tenant(options)
    with transaction.atomic():
        stores = stores_of_tenant(options["data_store"], None if tenant is None else tenant.pk)
        create = _create_for_application if options["application"] else _create_alone
        credentials = create(options, tenant)
        if stores:
            ApiClient.objects.get(client_id=credentials.key).data_stores.set([store.id for store in stores])
    return credentials.key, None if options["external"] else credentials.secret


@transaction.atomic
def _create_alone(options: dict[str, Any], tenant: Tenant | None) -> Credentials:
    profiles_named(options["profile"], tenant)  # Before anything is logged as created.
    credentials = create_client(
        options["name"],
        options["claim_set"],
        options["education_organization_id"],
        options["namespace_prefix"],
        options["key"],
        vendor_name=options["vendor"],
        tenant=tenant,
        expires_at=options["expires"],
        external=_external(options),
    )
    if options["profile"]:
        application = Application.objects.get(api_clients__client_id=credentials.key)
        assign_profiles(application, options["profile"], by=COMMAND)
    return credentials


def _create_for_application(options: dict[str, Any], tenant: Tenant | None) -> Credentials:
    application = application_named(options["application"], tenant)
    return add_client(
        application, options["name"], options["key"], expires_at=options["expires"], external=_external(options)
    )


def _external(options: dict[str, Any]) -> ExternalIdentity | None:
    if options["external"] is None:
        return None
    issuer, value = options["external"]
    return ExternalIdentity(issuer=issuer, value=value)


def _reuse(client: ApiClient, if_exists: str) -> tuple[str, str | None]:
    if if_exists == "refuse":
        raise CommandError(f'There is an API client "{client.name}" already; its key is {client.client_id}.')
    if if_exists == "keep":
        return client.client_id, None
    return client.client_id, rotate_secret(client).secret


def _as_text(name: str, key: str, secret: str | None) -> str:
    shown = secret or "(none, or shown when it was made; rotate_secret gives it another one)"
    return f"API client  {name}\nkey         {key}\nsecret      {shown}"


def _as_json(name: str, key: str, secret: str | None) -> str:
    return json.dumps({"name": name, "key": key, "secret": secret})


_FIELDS = {"client_id": "key", "value": "external client"}
_FORMATS = {"text": _as_text, "json": _as_json}
