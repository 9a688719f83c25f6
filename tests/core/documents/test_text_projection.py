"""The visible part of JSON text: the same as that of the parsed body, with every digit."""

import json
from random import Random
from typing import Any

import pytest

from edfi_api.core.documents.visible_part import compile_projection, compile_text_projection
from edfi_api.model.profiles.definition import FilterMode, Usage
from edfi_api.model.profiles.rules import view_of
from edfi_api.model.profiles.view import CollectionView, ItemFilter, ObjectView, members_of
from tests.core.security.profiles.random_rules import random_rule, with_filters
from tests.support.serving import LAKE_COUNTY, SERVED_BY_DEFAULT, STANDARDS, served


def projected(view: ObjectView, text: str) -> str:
    return compile_text_projection(view)(text.encode()).decode()


def narrowed(**members: ObjectView | CollectionView) -> ObjectView:
    return ObjectView(frozenset({"id"}), members)


def only(*names: str) -> ObjectView:
    return ObjectView(frozenset(names))


def filtered(*values: str, items: ObjectView | None = None, mode: FilterMode = FilterMode.INCLUDE_ONLY) -> ObjectView:
    return narrowed(xs=CollectionView(items, ItemFilter("kind", frozenset(values), mode, is_descriptor=False)))


@pytest.mark.parametrize(
    ("view", "text", "expected"),
    [
        (only("a"), '{"b": 1, "a": 0.1000000000000000000000001}', '{"a":0.1000000000000000000000001}'),
        (only("a"), '{"b": {"a": 1}, "a": {"b": 2, "a": []}}', '{"a":{"b": 2, "a": []}}'),
        (narrowed(x=only("a")), '{"x": {"b": 1, "a": 2}, "id": "é"}', '{"x":{"a":2},"id":"é"}'),
        (narrowed(x=only("a")), '{"x": {"b": 1}, "id": 7}', '{"id":7}'),
        (narrowed(xs=CollectionView(only("a"))), '{"xs": [{"b": 1}, {"a": 2, "b": 3}]}', '{"xs":[{"a":2}]}'),
        (narrowed(xs=CollectionView(only("a"))), '{"xs": [{"b": 1}]}', "{}"),
        (filtered("A"), '{"xs": [{"kind": "A", "b": 1}, {"kind": "B"}, {}]}', '{"xs":[{"kind":"A","b":1}]}'),
        (filtered("A", mode=FilterMode.EXCLUDE_ONLY), '{"xs": [{"kind": "A"}, {"b": 1}]}', '{"xs":[{"b":1}]}'),
        (filtered("A", items=only("b")), '{"xs": [{"kind": "A", "b": 1}, {"kind": "B", "b": 2}]}', '{"xs":[{"b":1}]}'),
        (
            ObjectView(frozenset({"id"}), {}, frozenset({"p"})),
            '{"_ext": {"p": {"a": 1}, "q": {}}}',
            '{"_ext":{"p":{"a":1}}}',
        ),
        (ObjectView(frozenset(), {}, frozenset({"p"})), '{"_ext": {"p": {}, "q": {"a": 1}}}', "{}"),
        (narrowed(x=only("a")), '{"x": ["a"], "id": 7}', '{"id":7}'),
        (narrowed(xs=CollectionView(only("a"))), '{"xs": {"a": 1}, "id": 7}', '{"id":7}'),
        (filtered("A", items=only("b")), '{"xs": ["A", {"kind": "A", "b": 1}]}', '{"xs":[{"b":1}]}'),
    ],
)
def test_what_is_visible_is_left(view: ObjectView, text: str, expected: str) -> None:
    assert projected(view, text) == expected


@pytest.mark.parametrize("sources", [(STANDARDS[0],), (SERVED_BY_DEFAULT, LAKE_COUNTY), (STANDARDS[-1],)], ids=str)
def test_it_is_the_visible_part_of_the_parsed_body(sources: tuple[Any, ...]) -> None:
    """For every resource, with rules at random."""
    random = Random(1)  # noqa: S311  the same rules in each run
    narrowing = 0
    for resource in served(*sources).surface.resources:
        members = members_of(resource)
        body = served(*sources).documents.full_body(resource)
        for _ in range(6):
            rule = with_filters(random, random_rule(random, members.root), members.root)
            view, _ = view_of(rule, resource.name.resource, members, Usage.READABLE)
            if view is not None:
                narrowing += 1
                expected = list(compile_projection(view)(body).items())
                assert list(json.loads(projected(view, json.dumps(body))).items()) == expected, resource.name
    assert narrowing > 1000
