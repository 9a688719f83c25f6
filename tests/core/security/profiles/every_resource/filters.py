"""Filters that hide one of the items of a given body."""

from dataclasses import replace
from random import Random
from typing import Any

from edfi_api.model.profiles.definition import ElementKind, FilterDefinition, FilterMode, ProfileRule, RuleElement
from edfi_api.model.profiles.view import Members


def with_filters_for(body: dict[str, Any], rule: ProfileRule, members: Members, random: Random) -> ProfileRule:
    """The rule with filters on some of its collections: by a text in the items' key, for or against the first item."""
    return replace(rule, elements=tuple(_filtered(each, body, members, random) for each in rule.elements))


def _filtered(element: RuleElement, body: dict[str, Any], members: Members, random: Random) -> RuleElement:
    if element.kind is ElementKind.EXTENSION:
        added = body.get("_ext", {}).get(element.name, {})
        return replace(element, rule=with_filters_for(added, element.rule, members.extensions[element.name], random))
    member = members.by_name[element.name]
    assert member.members is not None
    value = body.get(element.name, {})
    first = value[0] if isinstance(value, list) else value
    narrowed = replace(element, rule=with_filters_for(first, element.rule, member.members, random))
    keys = [path.steps[0] for path in member.item_key if len(path.steps) == 1]
    texts = [name for name in keys if member.members.by_name[name].is_text]
    if not texts or random.random() < 0.5:
        return narrowed
    name = random.choice(texts)
    return replace(narrowed, filter=FilterDefinition(name, random.choice(list(FilterMode)), (first[name],)))
