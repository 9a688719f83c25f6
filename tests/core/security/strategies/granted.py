"""Clients that may write more than they may read, and the body of a student."""

from typing import Any

import orjson

from edfi_api.core.security.claims.file import read_claims
from edfi_api.core.security.claims.stored_claims import load
from tests.conftest import ApiTestClient, new_token
from tests.core.security.strategies.scenario import EOP, NFA


def client_granted(*organizations: int, **strategies: str) -> ApiTestClient:
    """A client of these organizations whose claim set grants these actions by these strategies."""
    granted = {"claims": ["domains/everything"], "actions": list(strategies)}
    granted["strategies"] = {action: [strategy] for action, strategy in strategies.items()}
    name = f"{organizations} {strategies}"
    load(read_claims(orjson.dumps({"claimSets": [{"name": name, "grants": [granted]}]})), by="tests")
    return ApiTestClient(new_token(name, name, education_organization_ids=organizations))


def writer(*organizations: int) -> ApiTestClient:
    """A client that may write everything, and read what belongs to its organizations."""
    return client_granted(*organizations, Create=NFA, Update=NFA, Delete=NFA, Read=EOP)


def student(unique_id: str, **members: Any) -> dict[str, Any]:
    return {
        "studentUniqueId": unique_id,
        "firstName": "Mae",
        "lastSurname": "Ortiz",
        "birthDate": "2010-02-03",
    } | members
