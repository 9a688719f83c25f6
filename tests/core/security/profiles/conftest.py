"""Stored profiles, and clients that are bound by them; the descriptors of schools."""

from collections.abc import Callable
from typing import Any

import pytest
from django.core.cache import cache

from edfi_api.core.security.models import Application
from edfi_api.core.security.profiles.loading import assign_profiles, read_definitions, store_profiles
from edfi_api.core.security.profiles.models import Profile
from edfi_api.model.profiles.json_files import canonical_json
from tests.conftest import ApiTestClient, new_token
from tests.core.security.profiles.definitions import profile_of, profile_xml
from tests.core.security.profiles.schools import CATEGORY, GRADE, HOME, STATE, WORK

Store = Callable[..., None]
ClientOf = Callable[..., ApiTestClient]


@pytest.fixture
def store(db) -> Store:
    """`store(name, resource, read=…, write=…)` stores a profile of one resource."""

    def store(name: str, resource: str, read: str = "", write: str = "") -> None:
        store_profiles(read_definitions(profile_xml(resource, read, write, name)), by="tests")

    return store


@pytest.fixture
def client_of(db) -> ClientOf:
    """`client_of("A", "B")` is a client whose application is bound by these profiles; `claims` as in `new_token`."""
    cache.clear()
    made = 0

    def client_of(*profiles: str, **claims: Any) -> ApiTestClient:
        nonlocal made
        made += 1
        token = new_token(f"bound-{made}", **claims)
        assign_profiles(Application.objects.get(name=f"bound-{made}"), profiles, by="tests")
        return ApiTestClient(token)

    return client_of


@pytest.fixture
def narrow(store: Store, client_of: ClientOf) -> Callable[..., ApiTestClient]:
    """`narrow("School", "ExcludeOnly:…")` is a client whose profile `Part` has this rule for reading and writing."""

    def narrow(resource: str, rule: str, **claims: Any) -> ApiTestClient:
        store("Part", resource, read=rule, write=rule)
        return client_of("Part", **claims)

    return narrow


@pytest.fixture
def descriptors(api: ApiTestClient) -> None:
    """The descriptors of schools with addresses."""
    for endpoint, uri in (
        ("addressTypeDescriptors", HOME),
        ("addressTypeDescriptors", WORK),
        ("educationOrganizationCategoryDescriptors", CATEGORY),
        ("gradeLevelDescriptors", GRADE),
        ("stateAbbreviationDescriptors", STATE),
    ):
        namespace, code = uri.split("#")
        sent = {"namespace": namespace, "codeValue": code, "shortDescription": code}
        assert api.post(f"/{endpoint}", sent).status_code == 201


def make_incompatible(name: str, resource: str) -> None:
    """The profile as if it had been loaded for a standard that had another member."""
    definition = profile_of(resource, 'IncludeOnly:<Property name="vanished"/>', name=name)
    Profile.objects.filter(name=name).update(definition=canonical_json(definition).decode())
