"""Vendors, applications, clients, profiles, data stores and claim sets of an ODS/API → ours.

Everything can be repeated: what is here already stays, and a client whose key is here is a conflict. What has no place
here is named; no one gets more rights than there.

Definitions of profiles mean the same here as there. Under `ExcludeOnly` the ODS/API removes an object or a collection
that is named with `IncludeAll`. Here such a rule would hide nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from django.core.exceptions import ValidationError
from django.db import transaction

from edfi_api.common.conf import api_settings
from edfi_api.common.logs import audit
from edfi_api.core.data_stores.models import DataStore, State, Tenant
from edfi_api.core.data_stores.stores import create_data_store, visible_to
from edfi_api.core.security.claim_names import DOMAINS, SERVICES, claim_name
from edfi_api.core.security.claims.file import EVERYTHING
from edfi_api.core.security.claims.model import (
    ByAction,
    ClaimNames,
    Claims,
    ClaimSetValue,
    Grants,
    ResourceClaimValue,
    lineage,
    spelt_in_full,
)
from edfi_api.core.security.claims.stored_claims import load, stored_resource_claims
from edfi_api.core.security.claims.validation import unknown_for
from edfi_api.core.security.clients import COMMAND
from edfi_api.core.security.credentials import Credentials, UnreadableSecret, encoded
from edfi_api.core.security.models import ApiClient, Application, ClaimSet, Vendor
from edfi_api.core.security.profiles.loading import (
    NoSuchProfiles,
    assign_profiles,
    read_definitions,
    refuses,
    store_profiles,
)
from edfi_api.features.ods_import.administration import (
    Administration,
    OdsApplication,
    OdsClient,
    OdsInstance,
    OdsVendor,
)
from edfi_api.features.ods_import.models import OwnershipToken
from edfi_api.features.ods_import.ods_source import SourceUnusable, first_of
from edfi_api.model.profiles.checking import ProfileChecker
from edfi_api.model.profiles.definition import (
    ElementKind,
    FindingSeverity,
    MemberSelection,
    NamedMember,
    ProfileDefinition,
    ProfileRule,
    ResourceParts,
    RuleElement,
    UnreadableDefinition,
)
from edfi_api.model.surface.resource import Surface

# The operational contexts of an application of an ODS/API that was not given another one.
_USUAL_CONTEXTS = ("uri://ed-fi.org", "uri://ed-fi-api-host.org")
_LONGEST_NAME = 255
_SHARED = "one that all tenants share"
_OTHERS = "one of a tenant"


@dataclass(slots=True)
class Moved:
    """The changes that were, or would be, made, and what has no place here or was in the way, a line each; and the data
    stores that have no database yet.

    `lost` are the rights that someone has there and no one has here, and who had them; `left_out` is all else. `notes`
    are about what is said here in another way.
    """

    changes: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    conflicts: list[str] = field(default_factory=list)
    to_provision: list[DataStore] = field(default_factory=list)


@transaction.atomic
def move_clients(
    found: Administration, claims: Claims, surface: Surface, tenant: Tenant | None, *, is_dry_run: bool
) -> Moved:
    """Claim sets first, then profiles, data stores, and vendors with their applications and clients."""
    moved = Moved()
    _move_claims(claims, surface, tenant, moved, is_dry_run=is_dry_run)
    _move_profiles(found.profiles, surface, tenant, moved, is_dry_run=is_dry_run)
    stores = _move_instances(found.instances, tenant, moved, is_dry_run=is_dry_run)
    moving = _Moving(tenant, stores, moved, is_dry_run)
    for vendor in found.vendors:
        moving.move(vendor)
    moved.lost += [f"client {key} belongs to no application" for key in found.orphaned]
    if len(stores) > 1 and not found.names_instances:
        moved.left_out.append("which data stores each client uses: EdFi_Admin of this version has another form for it")
    return moved


def compatible_claims(claims: Claims, surface: Surface, moved: Moved) -> Claims:
    """The claims by their names here, without those of resources that the served model does not have, and without
    grants by strategies that there are not.

    Such a strategy stays where leaving it out would let a weaker one of the claim's ancestors count: then nothing is
    granted, since it is unknown. Raises SourceUnusable for claims that contain themselves.
    """
    found = spelt_in_full(claims, ClaimNames(surface))
    _refuse_circles(found)
    known = _known(found, surface)
    if unnamed := sorted(_served(surface) - found.resource_claims.keys()):
        moved.notes.append(f"the ODS has no resource claim for {first_of(unnamed)}: what they lie in here grants them")
    unserved = sorted(found.resource_claims.keys() - known)
    moved.left_out += [f"the resource claim {name}: there is no such resource" for name in unserved]
    for name in sorted(known):
        for action, strategies in (found.resource_claims[name].defaults or {}).items():
            if unknown := unknown_for(action, strategies, surface):
                moved.lost.append(f"{action} of {name} by default: there is no strategy {', '.join(unknown)}")
    present = stored_resource_claims()
    resource_claims = {
        name: ResourceClaimValue(_parent(name, found, present), value.defaults)
        for name, value in found.resource_claims.items()
        if name in known
    }
    claim_sets = {}
    for name, value in found.claim_sets.items():
        grants = {claim: each for claim, each in value.grants.items() if claim in known}
        moved.lost += [
            f"{name}: {action} of {claim}: there is no such resource"
            for claim in value.grants.keys() - known
            for action in value.grants[claim]
        ]
        claim_sets[name] = ClaimSetValue("", dict(_usable_grants(name, grants, found, surface, moved)))
    return Claims(resource_claims, claim_sets)


def _known(claims: Claims, surface: Surface) -> set[str]:
    """Domains, services, and the claims of resources that are served, with all that they lie in."""
    served = _served(surface)
    known = {name for name in claims.resource_claims if name.startswith((DOMAINS, SERVICES)) or name in served}
    return {each for name in known for each in lineage(claims.resource_claims, name)}


def _served(surface: Surface) -> set[str]:
    return {claim_name(resource) for resource in surface.resources}


def _refuse_circles(claims: Claims) -> None:
    for name in claims.resource_claims:
        above, seen = claims.resource_claims[name].parent, {name}
        while above is not None and above not in seen:
            seen.add(above)
            above = claims.resource_claims[above].parent
        if above is not None:
            raise SourceUnusable(f"the resource claim {above} contains itself")


def _parent(name: str, found: Claims, present: Mapping[str, ResourceClaimValue]) -> str | None:
    """Return where the claim lies here. One that lies nowhere in the ODS stays where it is, or comes into the domain of
    everything, which reaches it for the claim sets that grant that; but never into a claim of the ODS, whose grants
    would reach further than there.
    """
    parent = found.resource_claims[name].parent
    if parent is not None or (name.startswith(SERVICES) and name not in present):
        return parent
    above = present[name].parent if name in present else None
    if above is not None and not found.resource_claims.keys() & set(lineage(present, above)):
        return above
    is_alone = EVERYTHING not in present or EVERYTHING in found.resource_claims or name.startswith(SERVICES)
    return None if is_alone else EVERYTHING


def _usable_grants(
    claim_set: str, grants: Grants, claims: Claims, surface: Surface, moved: Moved
) -> Iterator[tuple[str, ByAction]]:
    for name, by_action in grants.items():
        ancestors = lineage(claims.resource_claims, name)[1:]
        kept = {}
        for action, strategies in by_action.items():
            unknown = unknown_for(action, strategies, surface) if strategies else ()
            if unknown:
                moved.lost.append(f"{claim_set}: {action} of {name}: there is no strategy {', '.join(unknown)}")
            if not unknown or any(action in grants.get(each, {}) for each in ancestors):
                kept[action] = strategies
        if kept:
            yield name, kept


def _move_claims(claims: Claims, surface: Surface, tenant: Tenant | None, moved: Moved, *, is_dry_run: bool) -> None:
    """Descriptions, which an ODS/API does not have, stay."""
    compatible = compatible_claims(claims, surface, moved)
    described = dict(ClaimSet.objects.filter(tenant=tenant).values_list("name", "description"))
    claim_sets = {
        name: ClaimSetValue(described.get(name, ""), value.grants)
        for name, value in _claim_sets_of(tenant, compatible.claim_sets, moved).items()
    }
    compatible = Claims(compatible.resource_claims, claim_sets)
    if tenant is not None:
        moved.left_out.append("resource claims and their default strategies, which all tenants share")
        compatible = Claims({}, _on_claims_here(compatible.claim_sets, moved))
    change = load(compatible, COMMAND, tenant=tenant, is_dry_run=is_dry_run)
    moved.changes += change.lines


def _claim_sets_of(
    tenant: Tenant | None, claim_sets: Mapping[str, ClaimSetValue], moved: Moved
) -> dict[str, ClaimSetValue]:
    """Return the claim sets whose names are not taken by claim sets of others, or in another case."""
    taken = {name.lower(): name for name in ClaimSet.objects.filter(tenant=tenant).values_list("name", flat=True)}
    others = ClaimSet.objects.filter(tenant__isnull=tenant is not None)
    of_others = {name.lower() for name in others.values_list("name", flat=True)}
    found: dict[str, ClaimSetValue] = {}
    for name, value in claim_sets.items():
        if name.lower() in of_others:
            moved.conflicts.append(
                f"claim set {name}: {_OTHERS if tenant is None else _SHARED} has the name, and stays"
            )
        elif taken.setdefault(name.lower(), name) != name:
            moved.conflicts.append(f"claim set {name}: {taken[name.lower()]} is here already, and stays")
        else:
            found[name] = value
    return found


def _on_claims_here(claim_sets: Mapping[str, ClaimSetValue], moved: Moved) -> dict[str, ClaimSetValue]:
    """The claim sets with what they grant on resource claims that are here."""
    here = stored_resource_claims().keys()
    for name, value in claim_sets.items():
        for claim, by_action in value.grants.items():
            if claim not in here:
                moved.lost += [f"{name}: {action} of {claim}: there is no such resource claim" for action in by_action]
    return {
        name: ClaimSetValue(value.description, {claim: each for claim, each in value.grants.items() if claim in here})
        for name, value in claim_sets.items()
    }


def _move_profiles(
    definitions: Mapping[str, str], surface: Surface, tenant: Tenant | None, moved: Moved, *, is_dry_run: bool
) -> None:
    checker = ProfileChecker(surface)
    for name, text in definitions.items():
        try:
            read = [as_the_ods_reads(definition) for definition in read_definitions(text.encode())]
        except UnreadableDefinition as error:
            moved.lost.append(f"the profile {name}: {'; '.join(finding.text for finding in error.findings)}")
            continue
        moved.notes += [note for _, notes in read for note in notes]
        for each in checker.check_all([definition for definition, _ in read]):
            # The ODS may hide something of what names nothing here.
            if refuses(each, accept_warnings=False):
                wrong = (finding for finding in each.findings if finding.severity is not FindingSeverity.NOTICE)
                texts = "; ".join(finding.text for finding in wrong)
                moved.lost.append(f"the profile {name}: {texts}")
            else:
                changes = store_profiles([each.definition], by=COMMAND, tenant=tenant, is_dry_run=is_dry_run)
                moved.changes += map(str, changes)


def _move_instances(
    instances: Iterable[OdsInstance], tenant: Tenant | None, moved: Moved, *, is_dry_run: bool
) -> dict[int, DataStore | None]:
    """The data stores by the number of the instance. A single one without a context is the admin database, where that
    has documents."""
    found = list(instances)
    if len(found) == 1 and not found[0].context and api_settings.has_main_store and tenant is None:
        return {found[0].id: None}
    stores: dict[int, DataStore | None] = {}
    for instance in found:
        store = DataStore.objects.filter(name=instance.name, tenant=tenant).first()
        if store is None:
            moved.changes.append(f"+ data store {instance.name}")
            store = DataStore(name=instance.name, state=State.PREPARING)
            if not is_dry_run:
                store = create_data_store(
                    instance.name, type=instance.type, context=instance.context, tenant=tenant, by=COMMAND
                )
        if store.state == State.PREPARING:
            moved.to_provision.append(store)
        stores[instance.id] = store
        moved.left_out += [
            f"the {type_} of data store {instance.name}: add_data_store_derivative adds one"
            for type_ in instance.derivatives
        ]
    return stores


@dataclass(slots=True)
class _Moving:
    """Moves vendors with all that belongs to them."""

    tenant: Tenant | None
    stores: Mapping[int, DataStore | None]
    moved: Moved
    is_dry_run: bool
    _owners: dict[int, str] = field(default_factory=dict)

    def move(self, vendor: OdsVendor) -> None:
        ours = self._vendor(vendor)
        for application in vendor.applications:
            if application.operational_context not in _USUAL_CONTEXTS:
                self.moved.left_out.append(
                    f"the operational context {application.operational_context} of {application.name}"
                )
            for organizations, clients in _by_organizations(application):
                self._move_clients(ours, application, organizations, clients)

    def _vendor(self, vendor: OdsVendor) -> Vendor:
        name = vendor.name[:_LONGEST_NAME]
        ours = Vendor.objects.filter(tenant=self.tenant, name=name).first()
        if ours is not None:
            if set(ours.namespace_prefixes) != set(vendor.prefixes):
                self.moved.conflicts.append(f"vendor {name} has other namespace prefixes here, which stay")
            return ours
        self.moved.changes.append(f"+ vendor {name}")
        ours = Vendor(tenant=self.tenant, name=name, namespace_prefixes=list(vendor.prefixes))
        self._save(ours, f"vendor {name}")
        return ours

    def _move_clients(
        self, vendor: Vendor, application: OdsApplication, organizations: frozenset[int], clients: list[OdsClient]
    ) -> None:
        new = [client for client in clients if not self._is_there(client)]
        if clients and not new:
            return
        ours = self._application(vendor, application, organizations)
        if ours is None:
            return
        for client in new:
            self._move_client(ours, client)

    def _is_there(self, client: OdsClient) -> bool:
        if not ApiClient.objects.filter(client_id=client.key).exists():
            return False
        self.moved.conflicts.append(f"client {client.key} is here already, and stays as it is")
        return True

    def _application(
        self, vendor: Vendor, application: OdsApplication, organizations: frozenset[int]
    ) -> Application | None:
        """Clients of other organizations than the application's get one of their own, or they would have more."""
        name = application.name
        if organizations != application.organizations:
            name = f"{name} ({', '.join(map(str, sorted(organizations))) or 'no organization'})"
        name = name[:_LONGEST_NAME]
        wanted = {"claim_set_name": application.claim_set, "education_organization_ids": sorted(organizations)}
        if vendor.pk is not None:
            present = Application.objects.filter(vendor=vendor, name=name).first()
            if present is not None:
                if {each: getattr(present, each) for each in wanted} == wanted:
                    return present
                name = f"{name[: _LONGEST_NAME - 20]} [{application.id}]"
                if present := Application.objects.filter(vendor=vendor, name=name, **wanted).first():
                    return present
        self.moved.changes.append(f"+ application {name}")
        ours = Application(vendor=vendor, name=name, **wanted)
        ours.claim_set = ClaimSet.objects.filter(visible_to(self.tenant), name__iexact=application.claim_set).first()
        if not self._save(ours, f"application {name}", exclude={"claim_set", "vendor"}) or self.is_dry_run:
            return None if not self.is_dry_run else ours
        self._assign_profiles(ours, application.profiles)
        return ours

    def _assign_profiles(self, ours: Application, names: tuple[str, ...]) -> None:
        """An application that lacks one of its profiles would show its clients more: they get none of its rights."""
        if not names:
            return
        try:
            assign_profiles(ours, names, by=COMMAND)
        except NoSuchProfiles as error:
            missing = ", ".join(error.names)
            ours.claim_set, ours.claim_set_name = None, f"(without the profile {missing})"[:_LONGEST_NAME]
            ours.save()
            self.moved.lost.append(f"the rights of application {ours.name}: its profile {missing} was not imported")

    def _move_client(self, application: Application, client: OdsClient) -> None:
        try:
            secret = encoded(client.secret) if client.is_hashed else Credentials(client.key, client.secret).hash
        except UnreadableSecret:
            self.moved.lost.append(f"client {client.key}: its secret has a form that is not known")
            return
        name = client.name or client.key
        if application.pk is not None and ApiClient.objects.filter(application=application, name=name).exists():
            name = f"{name} [{client.id}]"
        ours = ApiClient(
            application=application,
            name=name[:_LONGEST_NAME],
            client_id=client.key,
            client_secret=secret,
            is_active=client.is_approved,
        )
        self.moved.changes.append(f"+ client {client.key}{'' if client.is_approved else ', not approved'}")
        self.moved.left_out += self._ownership(client)
        if not self._save(ours, f"client {client.key}", exclude={"application"}) or self.is_dry_run:
            return
        audit.log_change("client created", client=client.key, claim_set=application.claim_set_name, by=COMMAND)
        ours.data_stores.set(store for each in client.instances if (store := self.stores.get(each)) is not None)
        if client.creator_token is not None:
            OwnershipToken.objects.get_or_create(token=client.creator_token, defaults={"api_client": ours.pk})

    def _ownership(self, client: OdsClient) -> Iterator[str]:
        """Yield remarks about ownership: here the client that created a document owns it, and no one else."""
        token = client.creator_token
        if token is not None and (owner := self._owners.setdefault(token, client.key)) != client.key:
            yield f"client {client.key} shares the ownership token {token} with {owner}, which owns its documents here"
        if others := sorted(client.tokens - {token}):
            numbers = ", ".join(map(str, others))
            yield f"client {client.key} owns documents of the ownership tokens {numbers} too, and here only its own"

    def _save(self, row: Vendor | Application | ApiClient, what: str, exclude: Iterable[str] = ()) -> bool:
        """Return whether the row is valid; it is saved unless this is a dry run."""
        try:
            row.full_clean(exclude=set(exclude), validate_unique=not self.is_dry_run)
        except ValidationError as error:
            self.moved.lost.append(f"{what}: {' '.join(error.messages)}")
            return False
        if not self.is_dry_run:
            row.save(force_insert=True)
        return True


def _by_organizations(application: OdsApplication) -> Iterator[tuple[frozenset[int], list[OdsClient]]]:
    """The clients by their organizations; the application itself, if it has none."""
    groups: dict[frozenset[int], list[OdsClient]] = defaultdict(list)
    for client in application.clients:
        groups[client.organizations].append(client)
    if not groups:
        groups[application.organizations] = []
    yield from groups.items()


def as_the_ods_reads(definition: ProfileDefinition) -> tuple[ProfileDefinition, list[str]]:
    """The definition that hides what the ODS hides, and a sentence about each member whose rule had to be replaced."""
    notes: list[str] = []
    resources = tuple(_translated(parts, definition.name, notes) for parts in definition.resources)
    return replace(definition, resources=resources), notes


def _translated(parts: ResourceParts, profile: str, notes: list[str]) -> ResourceParts:
    removed: list[str] = []
    read = None if parts.read is None else _rule(parts.read, removed)
    write = None if parts.write is None else _rule(parts.write, removed)
    notes += [
        f"profile {profile}: {name} of {parts.name} is hidden as a whole, as in the ODS"
        for name in dict.fromkeys(removed)
    ]
    return replace(parts, read=read, write=write)


def _rule(rule: ProfileRule, removed: list[str]) -> ProfileRule:
    is_excluding = rule.selection is MemberSelection.EXCLUDE_ONLY
    properties, elements = [*rule.properties], []
    for element in rule.elements:
        if not is_excluding or not _removes(element):
            elements.append(replace(element, rule=_rule(element.rule, removed)))
            continue
        removed.append(element.name)
        if element.kind is ElementKind.EXTENSION:
            elements.append(replace(element, rule=ProfileRule(MemberSelection.INCLUDE_ONLY, line=element.line)))
        else:
            properties.append(NamedMember(element.name, element.line))
    return replace(rule, properties=tuple(properties), elements=tuple(elements))


def _removes(element: RuleElement) -> bool:
    """Return whether the rule leaves nothing of a member whose parent excludes what it names."""
    rule = element.rule
    names_nothing = not rule.properties and not rule.elements and element.filter is None
    return rule.selection is MemberSelection.INCLUDE_ALL or (
        rule.selection is MemberSelection.EXCLUDE_ONLY and names_nothing
    )
