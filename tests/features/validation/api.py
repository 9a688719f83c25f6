"""Clients of `/validation/v1`, and the results that they find."""

from itertools import count

from tests.conftest import ApiTestClient, new_token

RESULTS = "/validation/v1/validationResults"
RULES = "/validation/v1/validationRules"
RUNS = "/validation/v1/validationRuns"

_numbers = count()


def client(*schools: int, claim_set: str = "EdFiSandboxDefaults") -> ApiTestClient:
    """Return a client of these schools; another one at each call."""
    return ApiTestClient(new_token(f"client {next(_numbers)}", claim_set, education_organization_ids=list(schools)))


def found(api: ApiTestClient, query: str = "") -> list[tuple[str, int, str | None]]:
    """Rule, organization and student of the results that a client sees."""
    answer = api.get(f"{RESULTS}?{query}")
    assert answer.status_code == 200, answer.content
    return sorted(
        (
            each["validationRuleReference"]["ruleIdentifier"],
            each["educationOrganizationReference"]["educationOrganizationId"],
            each.get("studentReference", {}).get("studentUniqueId"),
        )
        for each in answer.json()
    )
