"""What a process keeps about databases and claim sets is bounded."""

from uuid import uuid4

from edfi_api.core.security.claims import compile as claims
from edfi_api.core.security.claims.model import Claims, ClaimSetValue
from edfi_api.core.security.claims.stored_claims import load
from edfi_api.core.storage import descriptor_uri_cache
from edfi_api.core.storage.database_state import database_state
from tests.conftest import ApiTestClient, new_token

GRANTED = {"ed-fi/student": {"Read": ("NoFurtherAuthorizationRequired",)}}


def test_claim_sets_that_were_compiled_long_ago_are_forgotten(db, monkeypatch):
    monkeypatch.setattr(claims, "_MOST_COMPILED", 2)
    load(Claims({}, {name: ClaimSetValue("", GRANTED) for name in "XYZ"}), by="tests")
    clients = {name: ApiTestClient(new_token(name, name)) for name in "XYZ"}

    answers = [clients[name].get("/students").status_code for name in "XYZX"]

    assert answers == [200] * 4
    assert len(database_state("default").value(claims._compiled)) == 2


def test_casings_that_were_read_first_are_forgotten_first(db, monkeypatch):
    monkeypatch.setattr(descriptor_uri_cache, "_MOST_REMEMBERED", 3)
    first, *others = [uuid4() for _ in range(3)]
    remembered = database_state("default").value(descriptor_uri_cache._remembered)
    remembered.update(dict.fromkeys((first, *others), ("uri", 0.0)))

    descriptor_uri_cache._make_room(remembered, 1)

    assert list(remembered) == others
