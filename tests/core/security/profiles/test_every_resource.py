"""For every resource, parts at random: what is hidden is not shown, and not changed by what is written."""

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from edfi_api.core.documents.document_validator import DocumentValidator
from edfi_api.core.documents.exceptions import CannotBeCreated
from edfi_api.core.documents.merge_validator import MergeValidator
from edfi_api.core.documents.visible_part import compile_projection, is_visible_path, writable_schema
from edfi_api.model.profiles.definition import MemberSelection, Usage
from edfi_api.model.profiles.rules import view_of
from edfi_api.model.profiles.view import CollectionView, ObjectView, ResourceMembers, members_of
from edfi_api.model.surface.resource import Resource
from tests.core.security.profiles.leaves import leaves, schema_leaves
from tests.core.security.profiles.random_rules import random_rule
from tests.support.factories import DocumentFactory

PARTS_EACH = 6


def parts(resource: Resource, members: ResourceMembers) -> Iterator[ObjectView]:
    """Views of random parts, and of each mode alone."""
    random = Random(str(resource.name))  # noqa: S311  the same parts in each run
    for selection in [*MemberSelection, *(None for _ in range(PARTS_EACH))]:
        rule = random_rule(random, members.root, selection)
        view, findings = view_of(rule, resource.name.resource, members, Usage.WRITABLE)
        assert [each for each in findings if each.severity == "error"] == []
        if view is not None:
            yield view


@pytest.fixture(scope="module")
def factory(surface) -> DocumentFactory:
    return DocumentFactory(surface)


def test_projection_shows_exactly_the_visible_leaves(surface, factory) -> None:
    for resource in surface.resources:
        body = factory.full_body(resource)
        for view in parts(resource, members_of(resource)):
            shown = set(leaves(compile_projection(view)(body)))

            assert shown == {path for path in leaves(body) if is_visible_path(list(path), view)}, resource.name


def test_the_writable_schema_has_exactly_the_visible_members(surface) -> None:
    for resource in surface.resources:
        for view in parts(resource, members_of(resource)):
            writable = set(schema_leaves(writable_schema(resource.json_schema, view)))

            expected = {path for path in schema_leaves(resource.json_schema) if is_visible_path(list(path), view)}
            assert writable == expected, resource.name


def test_what_was_read_is_accepted_and_changes_nothing(surface, factory) -> None:
    for resource in surface.resources:
        members, full = members_of(resource), DocumentValidator(resource)
        stored = full.validate(factory.full_body(resource), no_uris).body
        for view in parts(resource, members):
            validator = MergeValidator(full, members, view)

            pending = validator.validate_new(compile_projection(view)(stored), no_uris)

            assert pending.merged(stored).body == stored, resource.name


def test_hidden_members_are_dropped_unseen(surface, factory) -> None:
    for resource in surface.resources:
        members, full = members_of(resource), DocumentValidator(resource)
        stored = full.validate(factory.full_body(resource), no_uris).body
        for view in parts(resource, members):
            validator = MergeValidator(full, members, view)
            spoilt = {
                name: value if view.shows(name) or name == "_ext" else [{"any": "thing"}, 1.5, None]
                for name, value in stored.items()
            }

            pending = validator.validate_new(spoilt, no_uris)

            assert pending.merged(stored).body == stored, resource.name


def test_creation_needs_every_required_member(surface, factory) -> None:
    """What the merge creates is valid; what it refuses to create lacks a required member, or everything."""
    created = refused = 0
    for resource in surface.resources:
        members, full = members_of(resource), DocumentValidator(resource)
        body = full.validate(factory.full_body(resource), no_uris).body
        for view in parts(resource, members):
            validator = MergeValidator(full, members, view)
            pending = validator.validate_new(body, no_uris)
            try:
                full.check(pending.merged(None).body)
                created += 1
            except CannotBeCreated:
                is_incomplete = lacks_required_members(resource.json_schema, compile_projection(view)(body))
                assert is_incomplete or empties_an_object(view, body), resource.name
                refused += 1
    assert created > 100
    assert refused > 100


def no_uris(ids: Any) -> dict[Any, str]:
    return {}


def empties_an_object(view: ObjectView, body: dict[str, Any]) -> bool:
    """Whether the body has an object of which the view leaves nothing."""
    extensions = body.get("_ext", {})
    objects = [(each, body[name]) for name, each in view.narrowed.items() if name in body]
    objects += [(each, extensions[key]) for key, each in view.narrowed_extensions.items() if key in extensions]
    for narrowed, value in objects:
        if isinstance(narrowed, CollectionView):
            if narrowed.items is not None and any(empties_an_object(narrowed.items, item) for item in value):
                return True
        elif not compile_projection(narrowed)(value) or empties_an_object(narrowed, value):
            return True
    return False


def lacks_required_members(schema: dict[str, Any], value: Any) -> bool:
    if schema["type"] == "object":
        missing = set(schema.get("required", ())) - value.keys()
        below = (lacks_required_members(schema["properties"][name], each) for name, each in value.items())
        return bool(missing) or any(below)
    if schema["type"] == "array":
        return any(lacks_required_members(schema["items"], item) for item in value)
    return False
