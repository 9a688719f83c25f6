"""How often documents of profiles are rendered, and how much memory they take."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from edfi_api.common.conf import api_settings
from edfi_api.model.surface.resource import Surface
from edfi_api.web.metadata import profile_openapi
from edfi_api.web.metadata.profile_openapi import ProfilePublications, profile_document
from edfi_api.web.metadata.publication import Addresses
from tests.core.security.profiles.conftest import Store

ROOT = Addresses.without_context("https://h")
Publications = Callable[[], ProfilePublications]


@pytest.fixture
def rendered(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the profiles whose documents are rendered."""
    names: list[str] = []

    def noted(surface: Surface, root: str, profile, standard: Path):
        names.append(profile.name)
        return profile_document(surface, root, profile, standard)

    monkeypatch.setattr(profile_openapi, "profile_document", noted)
    return names


@pytest.fixture
def publications(surface: Surface) -> Iterator[Publications]:
    return lambda: ProfilePublications(surface, api_settings.data_standard)


def test_a_document_is_rendered_when_it_is_requested_and_again_when_its_definition_changes(
    store: Store, publications: Publications, rendered: list[str]
) -> None:
    documents = publications()
    store("Counselor", "Student", read='IncludeOnly:<Property name="lastSurname"/>')
    store("Other", "Student", read="IncludeAll")
    assert documents.names(None) == ["Counselor", "Other"]
    assert rendered == []

    before = documents.of("counselor", None)
    store("Other", "School", read="IncludeAll")
    assert documents.of("COUNSELOR", None) is before
    assert rendered == ["Counselor"]

    store("Counselor", "Student", read='IncludeOnly:<Property name="firstName"/>')
    after = documents.of("Counselor", None)
    assert rendered == ["Counselor", "Counselor"]
    assert before and after and before.content(ROOT) != after.content(ROOT)


def test_documents_that_were_not_requested_for_the_longest_time_give_way(
    monkeypatch: pytest.MonkeyPatch, store: Store, publications: Publications, rendered: list[str]
) -> None:
    store("First", "Student", read="IncludeAll")
    size = len(publications().of("First", None).content(ROOT))
    monkeypatch.setattr(profile_openapi, "_MOST_BYTES", int(2.5 * size))
    documents = publications()
    for name in ("Second", "Third"):
        store(name, "Student", read="IncludeAll")
    rendered.clear()

    for name in ("First", "Second", "First", "Third", "First", "Second"):
        documents.of(name, None)

    assert rendered == ["First", "Second", "Third", "Second"]


def test_a_document_larger_than_all_room_is_served_all_the_same(
    monkeypatch: pytest.MonkeyPatch, store: Store, publications: Publications
) -> None:
    monkeypatch.setattr(profile_openapi, "_MOST_BYTES", 1000)
    store("Counselor", "Student", read="IncludeAll")

    found = publications().of("Counselor", None)

    assert found and len(found.content(ROOT)) > 1000
