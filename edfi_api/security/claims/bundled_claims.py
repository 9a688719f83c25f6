"""The initial claims of a new database: the bundled ones, and one for every other resource of the surface.

The bundled claims, in the two files of this folder, are loaded into a database that has no resource claim. After that
they are the operator's to change; `load_claim_sets --bundled` restores them, and with `--dry-run` prints the
difference. A resource without a claim, of an extension for example, gets one in the domain that fits its securable
elements.
"""

from pathlib import Path

from django.db import transaction

from edfi_api.model.surface.resource import Resource, ResourceKind, Surface

from ..models import ResourceClaim
from .file import read_claims
from .model import VALIDATION, Claims, ResourceClaimValue, claim_name
from .stored_claims import load, reserve

_FOLDER = Path(__file__).parent

TYPES = "domains/edFiTypes"
DESCRIPTORS = "domains/systemDescriptors"
ORGANIZATIONS = "domains/educationOrganizations"
RELATIONSHIPS = "domains/relationshipBasedData"
NAMESPACES = "domains/namespaceBasedData"
# These resources have no securable elements, so only claim sets with overriding strategies give access to them.
UNSECURED = "domains/unsecuredData"


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
