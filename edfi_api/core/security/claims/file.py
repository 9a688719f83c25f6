"""The files of `load_claim_sets`: JSON text → claims.

A file holds either of these members, or both:

    {
      "resourceClaims": [
        {"name": "domains/people", "defaults": {"Read": ["RelationshipsWithEdOrgsAndPeople"]},
         "children": ["ed-fi/student", {"name": "ed-fi/staff", "defaults": {...}, "children": [...]}]}
      ],
      "claimSets": [
        {"name": "RosterVendor", "description": "...",
         "grants": [{"claims": ["domains/people"], "actions": ["Read"], "strategies": ["NamespaceBased"]}]}
      ]
    }

Names of claims may be written as full URIs. `defaults` and `strategies` are lists of strategies for all actions, or
objects with lists by action; a grant without `strategies` uses the defaults. A claim given as a string is a child of
the enclosing claim and keeps its stored defaults.

The bundled claims, in the two files of this folder, are loaded into a database that has no resource claim. After that
they are the operator's to change; `load_claim_sets --bundled` restores them, and with `--dry-run` prints the
difference. A resource without a claim, of an extension for example, gets one in the domain that fits its securable
elements.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated

import msgspec
from django.db import transaction

from edfi_api.core.security.claim_names import VALIDATION, Action, claim_name, claim_of
from edfi_api.core.security.claims.model import ByAction, Claims, ClaimSetValue, ResourceClaimValue, repeated
from edfi_api.core.security.claims.stored_claims import load, reserve
from edfi_api.core.security.models import ResourceClaim
from edfi_api.core.security.names import NAME
from edfi_api.model.surface.resource import Resource, ResourceKind, Surface

_FOLDER = Path(__file__).parent
EVERYTHING = "domains/everything"
TYPES = "domains/edFiTypes"
DESCRIPTORS = "domains/systemDescriptors"
ORGANIZATIONS = "domains/educationOrganizations"
RELATIONSHIPS = "domains/relationshipBasedData"
NAMESPACES = "domains/namespaceBasedData"
# These resources have no securable elements, so only claim sets with overriding strategies give access to them.
UNSECURED = "domains/unsecuredData"


class UnusableClaimsFile(Exception):
    """The text does not have the form above; the message has the place and the reason."""


def read_claims(text: bytes) -> Claims:
    """Parse the text; `UnusableClaimsFile` if it has another form or names something twice."""
    try:
        read = _decoder.decode(text)
    except msgspec.MsgspecError as error:
        raise UnusableClaimsFile(str(error)) from error
    claims = list(_flat(read.resource_claims, None))
    _refuse_repeated("resource claim", (name for name, _ in claims))
    _refuse_repeated("claim set", (each.name for each in read.claim_sets))
    return Claims(dict(claims), {each.name: _claim_set(each) for each in read.claim_sets})


NameText = Annotated[str, msgspec.Meta(pattern=NAME, max_length=255)]


_StrategyList = list[Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z][A-Za-z0-9]*\Z", max_length=255)]]


_StrategiesText = _StrategyList | dict[Action, _StrategyList]


class _Claim(msgspec.Struct, forbid_unknown_fields=True):
    name: NameText
    defaults: _StrategiesText = {}
    children: "list[NameText | _Claim]" = []


class _Grant(msgspec.Struct, forbid_unknown_fields=True):
    claims: list[NameText]
    actions: list[Action]
    strategies: _StrategiesText = {}


class _ClaimSet(msgspec.Struct, forbid_unknown_fields=True):
    name: NameText
    grants: list[_Grant]
    description: str = ""


class _File(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    resource_claims: list[_Claim] = []
    claim_sets: list[_ClaimSet] = []


_decoder = msgspec.json.Decoder(_File)


def _flat(claims: Iterable[str | _Claim], parent: str | None) -> Iterator[tuple[str, ResourceClaimValue]]:
    for claim in claims:
        if isinstance(claim, str):
            yield claim_of(claim), ResourceClaimValue(parent, None)
            continue
        name = claim_of(claim.name)
        yield name, ResourceClaimValue(parent, _by_action(claim.defaults, Action))
        yield from _flat(claim.children, name)


def _claim_set(claim_set: _ClaimSet) -> ClaimSetValue:
    grants = [(claim_of(name), grant) for grant in claim_set.grants for name in grant.claims]
    _refuse_repeated(f"claim in claim set {claim_set.name}", (name for name, _ in grants))
    return ClaimSetValue(claim_set.description, {name: _granted(grant) for name, grant in grants})


def _granted(grant: _Grant) -> ByAction:
    return {action.value: () for action in grant.actions} | _by_action(grant.strategies, grant.actions)


def _by_action(strategies: _StrategyList | dict[Action, _StrategyList], actions: Iterable[Action]) -> ByAction:
    """Return the strategies by action, a plain string as in the database, without actions that have an empty list."""
    if isinstance(strategies, list):
        strategies = dict.fromkeys(actions, strategies)
    if unknown := sorted(set(strategies) - set(actions)):
        raise UnusableClaimsFile(f"there are strategies for {', '.join(unknown)}, which is not granted")
    return {action.value: tuple(names) for action, names in strategies.items() if names}


def _refuse_repeated(what: str, names: Iterable[str]) -> None:
    if found := repeated(names):
        raise UnusableClaimsFile(f"more than one {what} of this name: {', '.join(found)}")


def bundled_claims(surface: Surface) -> Claims:
    """The bundled claims, and claims for all other resources of the surface."""
    read = read_claims((_FOLDER / "bundled_resource_claims.json").read_bytes())
    claim_sets = read_claims((_FOLDER / "bundled_claim_sets.json").read_bytes())
    return Claims(claims_of_resources(surface)).and_also(read).and_also(claim_sets)


@transaction.atomic
def fill_claims(surface: Surface) -> None:
    """Load the bundled claims into a new database, and add a claim for every resource that has none."""
    if not ResourceClaim.objects.exists():
        claims = bundled_claims(surface)
        load(claims, by="migrate")
        reserve(claims.claim_sets)
        return
    known = set(ResourceClaim.objects.values_list("name", flat=True))
    missing = {
        name: claim
        for name, claim in {**claims_of_resources(surface), **_claims_of_validation()}.items()
        if name not in known and claim.parent in known
    }
    if missing:
        load(Claims(missing), by="migrate")


def _claims_of_validation() -> dict[str, ResourceClaimValue]:
    """The bundled claims of rules, runs and results, which no data standard has."""
    bundled = read_claims((_FOLDER / "bundled_resource_claims.json").read_bytes()).resource_claims
    return {name: claim for name, claim in bundled.items() if name.startswith(VALIDATION)}


def claims_of_resources(surface: Surface) -> dict[str, ResourceClaimValue]:
    """A claim for each resource, in the domain that fits its securable elements."""
    return {claim_name(each): ResourceClaimValue(_domain(each, surface), None) for each in surface.resources}


def _domain(resource: Resource, surface: Surface) -> str:
    if resource.is_descriptor:
        return DESCRIPTORS
    if resource.kind is ResourceKind.SCHOOL_YEAR:
        return TYPES
    if resource.name in surface.organizations.types:
        return ORGANIZATIONS
    elements = resource.securable_elements
    if elements.education_organization or elements.student or elements.contact or elements.staff:
        return RELATIONSHIPS
    return NAMESPACES if elements.namespace else UNSECURED
