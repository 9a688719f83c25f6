"""Projection and merge: nothing hidden is shown, nothing hidden is changed, whatever is stored and sent."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edfi_api.core.documents.exceptions import CannotBeCreated, ContradictsHidden
from edfi_api.core.documents.merge_validator import compile_merge
from edfi_api.core.documents.visible_part import compile_projection
from edfi_api.model.profiles.definition import FilterMode
from edfi_api.model.profiles.view import CollectionView, ItemFilter, MemberKind, Members, ObjectView, ProfileMember
from edfi_api.model.surface.resource import JsonPath

VALUE = ProfileMember(MemberKind.SCALAR)
KEY = (JsonPath(("k",)),)
OBJECT = Members({"a": VALUE, "b": VALUE})
ITEMS = Members({"k": VALUE, "shown": VALUE, "hidden": VALUE, "type": VALUE})
ROOT = Members(
    {
        "id": VALUE,
        "open": VALUE,
        "secret": VALUE,
        "object": ProfileMember(MemberKind.OBJECT, OBJECT),
        "list": ProfileMember(MemberKind.COLLECTION, ITEMS, KEY),
    },
    {"sample": Members({"x": VALUE, "y": VALUE}), "other": Members({"z": VALUE})},
)
FILTER = ItemFilter("type", frozenset({"closed"}), FilterMode.EXCLUDE_ONLY, is_descriptor=False)
VIEW = ObjectView(
    whole=frozenset({"id", "open"}),
    narrowed={
        "object": ObjectView(frozenset({"a"})),
        "list": CollectionView(ObjectView(frozenset({"k", "shown", "type"})), FILTER),
    },
    narrowed_extensions={"sample": ObjectView(frozenset({"x"}))},
)
project = compile_projection(VIEW)
merge = compile_merge(VIEW, ROOT, frozenset({"id"}))

numbers = st.integers(0, 9)


def objects(names: str, **more: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    optional = dict.fromkeys(names.split(), numbers)
    return st.fixed_dictionaries({}, optional={**optional, **more})


items = st.lists(
    st.fixed_dictionaries(
        {"k": numbers}, optional={"shown": numbers, "hidden": numbers, "type": st.sampled_from(["open", "closed"])}
    ),
    max_size=6,
    unique_by=lambda item: item["k"],
)
bodies = st.fixed_dictionaries(
    {"id": st.just(1)},
    optional={
        "open": numbers,
        "secret": numbers,
        "object": objects("a b"),
        "list": items,
        "_ext": objects("", sample=objects("x y"), other=objects("z")),
    },
)


def test_what_is_hidden_is_not_shown() -> None:
    body = {
        "id": 1,
        "secret": 2,
        "object": {"b": 3},
        "list": [{"k": 1, "hidden": 4, "shown": 5}, {"k": 2, "type": "closed"}],
        "_ext": {"sample": {"x": 6, "y": 7}, "other": {"z": 8}},
    }

    assert project(body) == {"id": 1, "list": [{"k": 1, "shown": 5}], "_ext": {"sample": {"x": 6}}}


@pytest.mark.parametrize(
    ("stored", "sent", "merged"),
    [("PQRST", "SUPV", "SQUPVT"), ("PQRST", "R", "RQT"), ("QT", "U", "QTU"), ("", "UV", "UV"), ("PQRST", "", "QT")],
)
def test_items_take_the_places_of_visible_ones(stored: str, sent: str, merged: str) -> None:
    hidden = {"Q", "T"}
    kept = [{"k": key, "type": "closed" if key in hidden else "open"} for key in stored]

    result = merge({"id": 1, "list": kept}, {"id": 1, "list": [{"k": key, "type": "open"} for key in sent]})

    assert "".join(item["k"] for item in result["list"]) == merged


@given(bodies)
def test_a_body_that_was_read_and_is_sent_back_changes_nothing_but_empty_objects(stored: dict[str, Any]) -> None:
    assert without_empty(merge(stored, project(stored))) == without_empty(stored)


@given(bodies, bodies)
def test_what_was_sent_is_read_back(stored: dict[str, Any], sent: dict[str, Any]) -> None:
    visible = project(sent)
    try:
        merged = merge(stored, visible)
    except ContradictsHidden:
        return

    assert project(merged) == visible


@given(bodies, bodies)
def test_hidden_members_stay(stored: dict[str, Any], sent: dict[str, Any]) -> None:
    try:
        merged = merge(stored, project(sent))
    except ContradictsHidden:
        return

    assert merged.get("secret") == stored.get("secret")
    assert merged.get("object", {}).get("b") == stored.get("object", {}).get("b")
    assert merged.get("_ext", {}).get("other") == stored.get("_ext", {}).get("other")
    assert merged.get("_ext", {}).get("sample", {}).get("y") == stored.get("_ext", {}).get("sample", {}).get("y")
    assert closed(merged) == closed(stored)
    before = {item["k"]: item.get("hidden") for item in stored.get("list", []) if item.get("type") != "closed"}
    assert all(
        item.get("hidden") == before.get(item["k"]) for item in merged.get("list", []) if item.get("type") != "closed"
    )


@given(bodies, bodies)
def test_the_same_again_changes_nothing(stored: dict[str, Any], sent: dict[str, Any]) -> None:
    visible = project(sent)
    try:
        merged = merge(stored, visible)
    except ContradictsHidden:
        return

    assert merge(merged, visible) == merged


def test_an_item_with_the_key_of_a_hidden_one_is_refused() -> None:
    stored = {"id": 1, "list": [{"k": 7, "type": "closed"}]}

    with pytest.raises(ContradictsHidden):
        merge(stored, {"id": 1, "list": [{"k": 7, "type": "open"}]})


def test_items_without_identifying_values_are_matched_in_their_order() -> None:
    stored = {"id": 1, "list": [{"shown": 1, "hidden": 7}, {"type": "closed"}, {"shown": 2, "hidden": 8}]}

    assert merge(stored, project(stored)) == stored
    assert merge(stored, {"id": 1, "list": [{"shown": 3}]})["list"] == [{"shown": 3, "hidden": 7}, {"type": "closed"}]


def test_what_is_new_needs_its_required_members_to_be_visible() -> None:
    members = Members(
        {
            "id": VALUE,
            "object": ProfileMember(MemberKind.OBJECT, Members({"a": VALUE, "b": VALUE}, required=frozenset("b"))),
        }
    )
    view = ObjectView(frozenset({"id"}), {"object": ObjectView(frozenset({"a"}))})
    strict = compile_merge(view, members, frozenset({"id"}))

    assert strict({"id": 1, "object": {"b": 2}}, {"id": 1, "object": {"a": 3}}) == {"id": 1, "object": {"a": 3, "b": 2}}
    assert strict(None, {"id": 1}) == {"id": 1}
    with pytest.raises(CannotBeCreated):
        strict({"id": 1}, {"id": 1, "object": {"a": 3}})
    with pytest.raises(CannotBeCreated):
        strict(None, {"id": 1, "object": {"a": 3}})


def closed(body: dict[str, Any]) -> list[Any]:
    return [item for item in body.get("list", []) if item.get("type") == "closed"]


def without_empty(value: Any) -> Any:
    if isinstance(value, dict):
        kept = {name: without_empty(each) for name, each in value.items()}
        return {name: each for name, each in kept.items() if each not in ({}, [])}
    return [without_empty(each) for each in value] if isinstance(value, list) else value


@pytest.mark.parametrize("stored", [None, {"id": 1}, {"id": 1, "_ext": {"other": {"z": 1}}}])
@pytest.mark.parametrize("sent", [{"object": {}}, {"_ext": {"sample": {}}}, {"list": [{}]}])
def test_nothing_is_made_of_what_was_sent_with_hidden_members_alone(stored: Any, sent: dict[str, Any]) -> None:
    with pytest.raises(CannotBeCreated):
        merge(stored, {"id": 1} | sent)
