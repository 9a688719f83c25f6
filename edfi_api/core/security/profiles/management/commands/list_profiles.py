"""`list_profiles [NAME…]`: list API profiles with their resources and applications, or print their definitions."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from edfi_api.common.commands import ReportingCommand, text
from edfi_api.core.data_stores.data_store_command import add_tenant, given_tenant
from edfi_api.core.data_stores.models import Tenant
from edfi_api.core.data_stores.stores import visible_to
from edfi_api.core.security.profiles.loading import NoSuchProfiles, profiles_named
from edfi_api.core.security.profiles.models import Profile
from edfi_api.model.profiles.definition import ProfileDefinition, ResourceParts, UnreadableDefinition, Usage
from edfi_api.model.profiles.json_files import read_canonical_json, write_json
from edfi_api.model.profiles.xml_files import write_xml

_WRITERS = {"xml": write_xml, "json": write_json}
_PARTS = {Usage.READABLE: "read", Usage.WRITABLE: "write"}


class Command(ReportingCommand):
    """See the module."""

    error_texts = {NoSuchProfiles: lambda error: f"There are no profiles {error}."}
    help = "Lists API profiles; --format xml and json print definitions that load_profiles reads."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("names", nargs="*", type=text, metavar="NAME", help="only profiles of these names")
        add_tenant(parser, "the tenant's and the shared profiles; without, the names are of shared ones")
        parser.add_argument(
            "--format", choices=["text", *_WRITERS], default="text", help="of what is printed (default text)"
        )

    def handle(self, *, names: list[str], **options: Any) -> None:
        profiles = _profiles(names, given_tenant(options))
        if writer := _WRITERS.get(options["format"]):
            self.stdout.write(writer([_definition(each) for each in profiles]).decode())
            return
        for profile in profiles:
            applications = ", ".join(str(application) for application in profile.applications.all()) or "-"
            name = profile.name if profile.tenant is None else f"{profile.tenant}/{profile.name}"
            self.stdout.write(f"{name}\n  resources     {_resources(profile)}\n  applications  {applications}")
        if not profiles:
            self.stdout.write("There are no profiles.")


def _profiles(names: list[str], tenant: Tenant | None) -> list[Profile]:
    if not names:
        listed = Profile.objects.select_related("tenant").prefetch_related("applications")
        return list(listed if tenant is None else listed.filter(visible_to(tenant)))
    return profiles_named(names, tenant)


def _resources(profile: Profile) -> str:
    return ", ".join(f"{parts.name} ({_parts(parts)})" for parts in _definition(profile).resources)


def _definition(profile: Profile) -> ProfileDefinition:
    try:
        return read_canonical_json(profile.definition.encode())
    except UnreadableDefinition as error:
        raise CommandError(f"{profile.name}: {error}") from error


def _parts(parts: ResourceParts) -> str:
    return ", ".join(_PARTS[usage] for usage in Usage if parts.part(usage) is not None) or "none"
