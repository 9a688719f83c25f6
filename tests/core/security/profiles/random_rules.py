"""Random parts of profiles for any resource: rules over all kinds of members, modes and depths, seeded."""

from dataclasses import replace
from random import Random

from edfi_api.model.profiles.definition import (
    ElementKind,
    FilterDefinition,
    FilterMode,
    MemberSelection,
    NamedMember,
    ProfileRule,
    RuleElement,
)
from edfi_api.model.profiles.view import MemberKind, Members, ProfileMember

_NARROWABLE = {MemberKind.OBJECT: ElementKind.OBJECT, MemberKind.COLLECTION: ElementKind.COLLECTION}


def random_rule(
    random: Random, members: Members, selection: MemberSelection | None = None, keep: frozenset[str] = frozenset()
) -> ProfileRule:
    """A rule about these members; `keep` are members that it does not hide."""
    selection = selection or random.choice(list(MemberSelection))
    named: list[NamedMember] = []
    elements: list[RuleElement] = []
    for name, member in members.by_name.items():
        choice = random.random()
        if member.kind in _NARROWABLE and member.members is not None and choice < 0.4:
            elements.append(_element(random, name, member))
        elif name in keep:
            if selection is MemberSelection.INCLUDE_ONLY:
                named.append(NamedMember(name))
        elif choice > 0.6 and selection is not MemberSelection.INCLUDE_ALL:
            named.append(NamedMember(name))
    for key, extension in members.extensions.items():
        if random.random() < 0.5:
            elements.append(RuleElement(ElementKind.EXTENSION, key, random_rule(random, extension)))
    order = list(ElementKind)
    elements.sort(key=lambda element: order.index(element.kind))
    return ProfileRule(selection, tuple(named), tuple(elements))


def _element(random: Random, name: str, member: ProfileMember) -> RuleElement:
    keys = frozenset(path.steps[0] for path in member.item_key)
    assert member.members is not None
    return RuleElement(_NARROWABLE[member.kind], name, random_rule(random, member.members, keep=keys))


def with_filters(random: Random, rule: ProfileRule, members: Members) -> ProfileRule:
    """The rule with filters on some of its collections, by a text of the items that the rule of these shows."""
    return replace(rule, elements=tuple(_filtered(random, element, members) for element in rule.elements))


def _filtered(random: Random, element: RuleElement, members: Members) -> RuleElement:
    if element.kind is ElementKind.EXTENSION:
        return replace(element, rule=with_filters(random, element.rule, members.extensions[element.name]))
    below = members.by_name[element.name].members
    assert below is not None
    narrowed = replace(element, rule=with_filters(random, element.rule, below))
    texts = [name for name, member in below.by_name.items() if member.is_text and shows(element.rule, name)]
    if element.kind is not ElementKind.COLLECTION or not texts or random.random() < 0.5:
        return narrowed
    return replace(
        narrowed, filter=FilterDefinition(random.choice(texts), random.choice(list(FilterMode)), ("Value", "Other"))
    )


def shows(rule: ProfileRule, name: str) -> bool:
    """Whether a rule shows a value."""
    is_named = name in {named.name for named in rule.properties}
    return is_named if rule.selection is MemberSelection.INCLUDE_ONLY else not is_named
