"""Claim set, resource, action → strategies. See
meadowlark/docs/design/authorization.md#from-a-claim-set-to-strategies."""

import orjson
import pytest
from django.db import IntegrityError, connection

from edfi_api.core.security.claim_names import Action
from edfi_api.core.security.claims import compile as claims
from edfi_api.core.security.claims.compile import strategies
from edfi_api.core.security.claims.file import read_claims
from edfi_api.core.security.claims.stored_claims import load
from edfi_api.core.security.clients import create_client
from edfi_api.core.security.exceptions import (
    ActionAccessDenied,
    ClaimSetVanished,
    ResourceAccessDenied,
    StrategiesNotDefined,
)
from edfi_api.core.security.models import Application, ClaimSet, Grant, ResourceClaim
from edfi_api.core.security.requests.authentication import AuthenticatedClient, client_of_token
from edfi_api.model.surface.resource import Surface
from tests.conftest import new_token
from tests.core.security.claim_tree import TREE, grant

pytestmark = pytest.mark.django_db


def client_with(*grants: dict[str, object], claim_set: str = "Test") -> AuthenticatedClient:
    """A client whose claim set has these grants, over the tree above."""
    file = {"resourceClaims": [TREE], "claimSets": [{"name": claim_set, "grants": list(grants)}]}
    load(read_claims(orjson.dumps(file)), by="tests")
    return client_of_token(new_token(claim_set, claim_set))


@pytest.fixture
def find_strategies(resource_named):
    def strategies_of(client: AuthenticatedClient, resource: str, action: Action) -> tuple[str, ...]:
        return strategies(client, resource_named(resource), action)

    return strategies_of


@pytest.mark.parametrize("on", ["domains/top", "domains/middle", "ed-fi/student"])
def test_a_grant_anywhere_on_the_lineage_is_enough(find_strategies, on: str) -> None:
    client = client_with(grant(on, "Read"))

    assert find_strategies(client, "Student", Action.READ) == ("Middle",)


def test_defaults_are_inherited_action_by_action(find_strategies) -> None:
    client = client_with(grant("domains/top", "Create", "Read", "Delete"))

    assert find_strategies(client, "Student", Action.CREATE) == ("Top",)
    assert find_strategies(client, "Student", Action.READ) == ("Middle",)
    assert find_strategies(client, "Student", Action.DELETE) == ("Leaf",)
    assert find_strategies(client, "School", Action.READ) == ("Top",)


def test_an_override_applies_if_the_nearest_grant_has_it(find_strategies) -> None:
    client = client_with(
        grant("domains/top", "Read", strategies=["Far"]),
        grant("domains/middle", "Read", "Create", strategies={"Read": ["Near", "Nearer"]}),
    )

    assert find_strategies(client, "Student", Action.READ) == ("Near", "Nearer")
    assert find_strategies(client, "School", Action.READ) == ("Far",)


def test_a_nearer_grant_without_override_restores_the_defaults(find_strategies) -> None:
    client = client_with(grant("domains/top", "Read", strategies=["Far"]), grant("ed-fi/student", "Read"))

    assert find_strategies(client, "Student", Action.READ) == ("Middle",)


def test_a_resource_without_a_grant_is_denied(find_strategies) -> None:
    client = client_with(grant("domains/middle", "Read"))

    with pytest.raises(ResourceAccessDenied):
        find_strategies(client, "School", Action.READ)


def test_an_action_that_is_not_granted_is_denied(find_strategies) -> None:
    client = client_with(grant("domains/middle", "Read"))

    with pytest.raises(ActionAccessDenied) as denied:
        find_strategies(client, "Student", Action.DELETE)
    assert denied.value == ActionAccessDenied("Test", "Student", "Delete")


def test_a_grant_without_strategies_is_a_configuration_error(find_strategies) -> None:
    client = client_with(grant("domains/top", "ReadChanges"))

    with pytest.raises(StrategiesNotDefined) as fault:
        find_strategies(client, "Student", Action.READ_CHANGES)
    beginning = "http://ed-fi.org/identity/claims/"
    assert fault.value == StrategiesNotDefined("ReadChanges", f"{beginning}ed-fi/student", f"{beginning}domains/top")


def test_a_resource_without_a_claim_is_denied_to_everyone(find_strategies) -> None:
    client = client_of_token(new_token())
    ResourceClaim.objects.get(name="ed-fi/grade").delete()

    with pytest.raises(ResourceAccessDenied):
        find_strategies(client, "Grade", Action.READ)


def test_a_deleted_claim_set_denies_its_valid_tokens(find_strategies) -> None:
    client = client_with(grant("domains/top", "Read"))
    Application.objects.update(claim_set=ClaimSet.objects.get(name="SISVendor"))
    ClaimSet.objects.get(name="Test").delete()

    with pytest.raises(ClaimSetVanished):
        find_strategies(client, "Student", Action.READ)


def test_a_claim_set_that_is_deleted_by_sql_leaves_its_name_to_applications() -> None:
    ClaimSet.objects.create(name="Test")
    create_client("portal", "Test")

    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM security_claimset WHERE name = 'Test'")
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")

    application = Application.objects.get()
    assert (application.claim_set, application.claim_set_name) == (None, "Test")


def test_a_compiled_claim_set_costs_no_query(find_strategies, django_assert_num_queries) -> None:
    client = client_with(grant("domains/top", "Read"))
    find_strategies(client, "Student", Action.READ)

    with django_assert_num_queries(0):
        find_strategies(client, "School", Action.READ)


def test_a_change_applies_when_the_token_is_looked_up_again(find_strategies) -> None:
    client_with(grant("domains/top", "Read"))
    token = new_token("another", "Test")
    assert find_strategies(client_of_token(token), "Student", Action.READ) == ("Middle",)

    Grant.objects.filter(claim_set__name="Test").update(actions=["Create"])
    client_of_token.cache_clear()

    with pytest.raises(ActionAccessDenied):
        find_strategies(client_of_token(token), "Student", Action.READ)


def test_the_database_refuses_a_cycle(find_strategies) -> None:
    client_with()

    with pytest.raises(IntegrityError, match="would lie in itself"):
        ResourceClaim.objects.filter(name="domains/top").update(parent=ResourceClaim.objects.get(name="domains/middle"))


def test_sandbox_and_full_access_grant_every_resource(surface: Surface) -> None:
    for claim_set in ("EdFiSandbox", "FullAccess"):
        client = client_of_token(new_token(claim_set, claim_set))
        for resource in surface.resources:
            for action in Action:
                assert strategies(client, resource, action) == ("NoFurtherAuthorizationRequired",)


def test_operations_are_listed_in_their_order() -> None:
    client = client_with(grant("ed-fi/student", "ReadChanges", "Read", "Create"))

    assert claims.operations(client) == {"ed-fi/student": [Action.CREATE, Action.READ, Action.READ_CHANGES]}
