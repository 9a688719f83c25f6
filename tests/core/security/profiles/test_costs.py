"""What stored profiles cost a process: parts are compiled once, quickly and small, and only those that are used."""

import gc
import time
import tracemalloc
from collections.abc import Iterator
from random import Random
from weakref import ref

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django import DjangoAssertNumQueries

from edfi_api.core.security.profiles.catalog import ProfileCatalogs, ProfilePart, StoredProfile
from edfi_api.core.security.profiles.models import Profile
from edfi_api.model.profiles.checking import ProfileChecker
from edfi_api.model.profiles.definition import ProfileDefinition, ResourceParts, Usage
from edfi_api.model.profiles.json_files import canonical_json
from edfi_api.model.profiles.view import members_of
from edfi_api.model.surface.resource import Resource, Surface
from edfi_api.web.viewsets.router import ServedSurface
from tests.conftest import ApiTestClient
from tests.core.security.profiles.conftest import ClientOf, Store
from tests.core.security.profiles.random_rules import random_rule, with_filters

MOST_SECONDS = 0.005
MOST_BYTES = 50_000


@pytest.fixture(scope="module")
def checker(surface: Surface) -> ProfileChecker:
    return ProfileChecker(surface)


def stored_profile(resource: Resource, checker: ProfileChecker) -> StoredProfile:
    random, root = Random(3), members_of(resource).root  # noqa: S311
    rule = with_filters(random, random_rule(random, root), root)
    definition = ProfileDefinition("Portal", (ResourceParts(resource.name.resource, None, rule, rule),))
    return StoredProfile(1, "Portal", canonical_json(definition).decode(), checker)


def compiled(profile: StoredProfile, resource: Resource, served: ServedSurface) -> Iterator[ProfilePart]:
    """The parts with everything that requests use of them."""
    for usage in Usage:
        part = profile.part(resource, usage)
        assert part is not None
        assert part.view is not None
        assert part.project
        assert part.project_text
        assert served.profile_queries[part] if usage is Usage.READABLE else served.profile_validators[part]
        yield part


@pytest.fixture
def largest(surface: Surface) -> Resource:
    return max(surface.resources, key=lambda each: len(str(each.json_schema)))


def test_a_part_is_compiled_quickly(surface: Surface, checker: ProfileChecker, largest: Resource) -> None:
    served, seconds = ServedSurface(surface), []
    list(compiled(stored_profile(largest, checker), largest, served))  # The validator of the whole resource is shared.
    for _ in range(5):
        profile = stored_profile(largest, checker)
        begun = time.process_time()
        list(compiled(profile, largest, served))
        seconds.append((time.process_time() - begun) / len(Usage))

    assert min(seconds) < MOST_SECONDS


def test_a_part_is_small_and_let_go_with_its_profile(surface: Surface, checker: ProfileChecker, resource_named) -> None:
    student, served = resource_named("Student"), ServedSurface(surface)
    list(compiled(stored_profile(student, checker), student, served))
    gc.collect()
    tracemalloc.start()
    profile = stored_profile(student, checker)
    parts = list(compiled(profile, student, served))
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert size / len(parts) < MOST_BYTES

    there = [ref(part) for part in parts]
    del parts, profile
    gc.collect()
    assert [each() for each in there] == [None, None]
    assert not served.profile_queries._compiled
    assert not served.profile_validators._compiled


def test_profiles_are_checked_when_they_are_used(
    monkeypatch: pytest.MonkeyPatch, api: ApiTestClient, store: Store, client_of: ClientOf
) -> None:
    """A thousand others cost a request nothing."""
    store("Portal", "Student", read="IncludeAll")
    definition = Profile.objects.get().definition
    Profile.objects.bulk_create(Profile(name=f"Other-{number}", definition=definition) for number in range(1000))
    checked: list[str] = []
    check = ProfileChecker.check
    monkeypatch.setattr(ProfileChecker, "check", lambda self, each: checked.append(each.name) or check(self, each))
    client = client_of("Portal")

    for _ in range(2):
        assert client.get("/students").status_code == 200
        assert api.get("/students").status_code == 200

    assert checked == ["Portal"]


def test_a_thousand_profiles_are_read_with_as_many_statements_as_one(
    db: None, surface: Surface, store: Store, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    store("Portal", "Student", read='ExcludeOnly:<Property name="firstName"/>')
    with CaptureQueriesContext(connection) as of_one:
        ProfileCatalogs(surface).current()
    definition = Profile.objects.get().definition
    Profile.objects.bulk_create(Profile(name=f"Other-{number}", definition=definition) for number in range(1000))

    with django_assert_num_queries(len(of_one)):
        catalog = ProfileCatalogs(surface).current()

    assert len(catalog.by_id) == 1001
