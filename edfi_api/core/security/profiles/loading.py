"""Loads, removes and assigns profiles; every change is one transaction and one line of the audit log."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Lower

from edfi_api.common.logs import audit
from edfi_api.core.data_stores.models import Tenant
from edfi_api.core.data_stores.stores import visible_to
from edfi_api.core.security.models import Application
from edfi_api.core.security.profiles.models import Profile, ProfileAssignment
from edfi_api.model.profiles.checking import CheckedProfile, ProfileChecker
from edfi_api.model.profiles.definition import (
    Finding,
    FindingSeverity,
    ProfileDefinition,
    ResourceParts,
    UnreadableDefinition,
    Usage,
)
from edfi_api.model.profiles.json_files import canonical_json, read_canonical_json, read_json
from edfi_api.model.profiles.xml_files import read_xml

_PARTS = {Usage.READABLE: "read", Usage.WRITABLE: "write"}


class StillAssigned(Exception):
    """A profile cannot be removed because `applications` are bound by it."""

    def __init__(self, applications: list[str]) -> None:
        super().__init__(", ".join(applications))
        self.applications = applications


class NoSuchProfiles(Exception):
    """No profiles are stored under these `names`."""

    def __init__(self, names: list[str]) -> None:
        super().__init__(", ".join(names))
        self.names = names


class NotOfTheTenant(Exception):
    """The name of a profile is taken: of a tenant's profile by a shared one, or of a shared one by a tenant's."""


@dataclass(frozen=True, slots=True)
class ProfileChange:
    """One profile that was, or would be, added (`+`) or replaced (`~`), with the parts that changed."""

    sign: str
    name: str
    parts: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.sign} profile {self.name}" + (f": {', '.join(self.parts)}" if self.parts else "")


def read_definitions(text: bytes) -> list[ProfileDefinition]:
    """The definitions of a file in XML, whose first character is `<`, or JSON. Raises UnreadableDefinition."""
    is_xml = text.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"<")
    return read_xml(text) if is_xml else read_json(text)


def refuses(checked: CheckedProfile, *, accept_warnings: bool) -> bool:
    """Return whether the profile is not stored: for its errors, and for what it names without hiding it unless warnings
    are accepted."""
    return any(is_fatal(finding, accept_warnings) for finding in checked.findings)


@transaction.atomic
def store_profiles(
    definitions: Iterable[ProfileDefinition], *, by: str, tenant: Tenant | None = None, is_dry_run: bool = False
) -> list[ProfileChange]:
    """Add or replace profiles by name in any case; profiles that are stored with the same definition do not change.
    They become the tenant's, without one shared. Raises NotOfTheTenant."""
    changes = []
    for definition in definitions:
        text = canonical_json(definition).decode()
        of_this_name = Profile.objects.select_for_update().filter(name__iexact=definition.name)
        if of_this_name.filter(tenant__isnull=tenant is not None).exists():
            raise NotOfTheTenant(
                f"{definition.name} is {'the profile of a tenant' if tenant is None else 'a shared profile'} already"
            )
        stored = of_this_name.filter(tenant=tenant).first()
        if stored is not None and (stored.name, stored.definition) == (definition.name, text):
            continue
        change = _change(stored, definition)
        changes.append(change)
        if is_dry_run:
            continue
        if stored is None:
            Profile.objects.create(tenant=tenant, name=definition.name, definition=text)
        else:
            stored.name, stored.definition = definition.name, text
            stored.save(update_fields=["name", "definition", "modified_at"])
        audit.log_change("profile loaded", profile=definition.name, by=by)
    return changes


@transaction.atomic
def remove_profile(name: str, *, by: str, tenant: Tenant | None = None) -> None:
    """Remove a profile that the tenant can use. Raises NoSuchProfiles, and StillAssigned with its applications."""
    (profile,) = _locked([name], tenant)
    applications = [str(application) for application in profile.applications.all()]
    if applications:
        raise StillAssigned(applications)
    profile.delete()
    audit.log_change("profile removed", profile=profile.name, by=by)


@transaction.atomic
def assign_profiles(application: Application, names: Sequence[str], *, by: str) -> list[Profile]:
    """Bind the application's clients by exactly these profiles of its tenant. Raises NoSuchProfiles."""
    profiles = _locked(names, application.vendor.tenant)
    assignments = ProfileAssignment.objects.filter(application=application)
    assignments.exclude(profile__in=profiles).delete()
    ProfileAssignment.objects.bulk_create(
        [ProfileAssignment(application=application, profile=profile) for profile in profiles], ignore_conflicts=True
    )
    names_for_log = ",".join(profile.name for profile in profiles) or "none"
    audit.log_change("profiles assigned", application=application.name, profiles=names_for_log, by=by)
    return profiles


def profiles_named(names: Sequence[str], tenant: Tenant | None = None) -> list[Profile]:
    """The profiles with these names, in any case, each once, that the tenant can use; without one the shared ones.
    Raises NoSuchProfiles."""
    return _named(names, Profile.objects.filter(visible_to(tenant)))


def findings(profile: Profile, checker: ProfileChecker) -> Sequence[Finding]:
    """The findings about a stored profile; its lines are those of no file."""
    try:
        return checker.check(read_canonical_json(profile.definition.encode())).findings
    except UnreadableDefinition as error:
        return error.findings


def notices(profile: Profile, checker: ProfileChecker) -> list[str]:
    """Return the messages to show about a stored profile when it is assigned: `Portal: Student has no write part:
    …`."""
    return [
        f"{profile.name}: {finding.text}"
        for finding in findings(profile, checker)
        if finding.severity is not FindingSeverity.WARNING
    ]


def has_errors(profile: Profile, checker: ProfileChecker) -> bool:
    """Return whether a stored profile does not fit the standard of the checker."""
    return any(finding.severity is FindingSeverity.ERROR for finding in findings(profile, checker))


def incompatible_profiles(checker: ProfileChecker) -> list[tuple[str, list[str]]]:
    """The stored profiles that do not fit the served standard, by name, each with its errors."""
    errors = (
        (profile.name, [each.text for each in findings(profile, checker) if each.severity is FindingSeverity.ERROR])
        for profile in Profile.objects.all()
    )
    return [(name, texts) for name, texts in errors if texts]


def _locked(names: Sequence[str], tenant: Tenant | None) -> list[Profile]:
    """Return what `profiles_named` returns; nothing about the profiles changes until the end of the transaction."""
    return _named(names, Profile.objects.filter(visible_to(tenant)).select_for_update())


def _named(names: Sequence[str], profiles: QuerySet[Profile]) -> list[Profile]:
    lowered = list(dict.fromkeys(name.lower() for name in names))
    with_names = profiles.annotate(lowered=Lower("name")).filter(lowered__in=lowered)
    found = {profile.name.lower(): profile for profile in with_names}
    missing = [name for name in names if name.lower() not in found]
    if missing:
        raise NoSuchProfiles(missing)
    return [found[name] for name in lowered]


def is_fatal(finding: Finding, accept_warnings: bool) -> bool:
    """Return whether a profile with this finding is not stored."""
    return finding.severity is FindingSeverity.ERROR or (finding.hides_less and not accept_warnings)


def _change(stored: Profile | None, definition: ProfileDefinition) -> ProfileChange:
    if stored is None:
        return ProfileChange("+", definition.name)
    before = {parts.name: parts for parts in _resources(stored)}
    after = {parts.name: parts for parts in definition.resources}
    changed = [
        f"{name} {_PARTS[usage]}"
        for name in dict.fromkeys([*before, *after])
        for usage in Usage
        if (before[name].part(usage) if name in before else None)
        != (after[name].part(usage) if name in after else None)
    ]
    return ProfileChange("~", definition.name, tuple(changed))


def _resources(stored: Profile) -> Sequence[ResourceParts]:
    """Return the resources of the profile, none for a text that cannot be read: everything about it changes."""
    try:
        return read_canonical_json(stored.definition.encode()).resources
    except UnreadableDefinition:
        return ()
