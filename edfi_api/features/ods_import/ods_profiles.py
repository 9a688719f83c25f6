"""Definitions of profiles as the ODS/API reads them → definitions that mean the same here.

Under `ExcludeOnly` the ODS/API removes an object or a collection that is named with `IncludeAll`. Here such a rule
would hide nothing.
"""

from dataclasses import replace

from edfi_api.model.profiles.definition import (
    ElementKind,
    MemberSelection,
    NamedMember,
    ProfileDefinition,
    ProfileRule,
    ResourceParts,
    RuleElement,
)


def as_the_ods_reads(definition: ProfileDefinition) -> tuple[ProfileDefinition, list[str]]:
    """The definition that hides what the ODS hides, and a sentence about each member whose rule had to be replaced."""
    notes: list[str] = []
    resources = tuple(_translated(parts, definition.name, notes) for parts in definition.resources)
    return replace(definition, resources=resources), notes


def _translated(parts: ResourceParts, profile: str, notes: list[str]) -> ResourceParts:
    removed: list[str] = []
    read = None if parts.read is None else _rule(parts.read, removed)
    write = None if parts.write is None else _rule(parts.write, removed)
    notes += [
        f"profile {profile}: {name} of {parts.name} is hidden as a whole, as in the ODS"
        for name in dict.fromkeys(removed)
    ]
    return replace(parts, read=read, write=write)


def _rule(rule: ProfileRule, removed: list[str]) -> ProfileRule:
    is_excluding = rule.selection is MemberSelection.EXCLUDE_ONLY
    properties, elements = [*rule.properties], []
    for element in rule.elements:
        if not is_excluding or not _removes(element):
            elements.append(replace(element, rule=_rule(element.rule, removed)))
            continue
        removed.append(element.name)
        if element.kind is ElementKind.EXTENSION:
            elements.append(replace(element, rule=ProfileRule(MemberSelection.INCLUDE_ONLY, line=element.line)))
        else:
            properties.append(NamedMember(element.name, element.line))
    return replace(rule, properties=tuple(properties), elements=tuple(elements))


def _removes(element: RuleElement) -> bool:
    """Whether the rule leaves nothing of a member whose parent excludes what it names."""
    rule = element.rule
    names_nothing = not rule.properties and not rule.elements and element.filter is None
    return rule.selection is MemberSelection.INCLUDE_ALL or (
        rule.selection is MemberSelection.EXCLUDE_ONLY and names_nothing
    )
