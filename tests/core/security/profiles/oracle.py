"""What the rules of a definition mean for a body, read from the definition itself: the tests' own account."""

from collections.abc import Iterator
from typing import Any

from edfi_api.model.profiles.definition import (
    ElementKind,
    FilterDefinition,
    FilterMode,
    MemberSelection,
    ProfileRule,
    RuleElement,
)
from edfi_api.model.surface.resource import Resource

Body = dict[str, Any]
_EXT = "_ext"


class Oracle:
    """One rule for one resource."""

    def __init__(self, rule: ProfileRule, resource: Resource) -> None:
        self.rule = rule
        self.resource = resource
        self._identity = {path.steps[0] for path in resource.identity}

    def shown(self, body: Body) -> Body:
        """The visible part."""
        return _shown(self.rule, body, self._identity)

    def combined(self, stored: Body, sent: Body) -> Body:
        """Hidden values from the one body, visible ones from the other, which has the same members and item keys."""
        return _combined(self.rule, stored, sent, self._identity)

    def spoilt(self, body: Body) -> Body:
        """The body with nonsense at all hidden members, and without hidden items."""
        return _spoilt(self.rule, body, self._identity)

    def can_be_created(self, body: Body) -> bool:
        """Whether nothing that the schema requires of the body is hidden in it."""
        return not any(_lacking(self.resource.json_schema, self.rule, body, self._identity))


def _element(rule: ProfileRule, name: str) -> RuleElement | None:
    return next((e for e in rule.elements if e.name == name and e.kind is not ElementKind.EXTENSION), None)


def _extension(rule: ProfileRule, key: str) -> RuleElement | None:
    found = (each for each in rule.elements_of(ElementKind.EXTENSION) if each.name.lower() == key.lower())
    return next(found, None)


def _is_whole(rule: ProfileRule, name: str) -> bool:
    """Whether a member without a rule of its own is seen as a whole."""
    is_named = any(each.name == name for each in rule.properties)
    match rule.selection:
        case MemberSelection.INCLUDE_ONLY:
            return is_named
        case MemberSelection.EXCLUDE_ONLY:
            return not is_named
    return True


def is_shown(item: Body, item_filter: FilterDefinition | None) -> bool:
    """Whether the filter shows an item."""
    if item_filter is None:
        return True
    value = item.get(item_filter.property_name)
    is_listed = value is not None and str(value).lower() in {each.lower() for each in item_filter.values}
    return is_listed is (item_filter.mode is FilterMode.INCLUDE_ONLY)


def _shown(rule: ProfileRule, body: Body, always: set[str]) -> Body:
    shown = {}
    for name, value in body.items():
        element = _element(rule, name)
        if name == _EXT:
            left = _shown_extensions(rule, value)
        elif name in always or (element is None and _is_whole(rule, name)):
            shown[name] = value
            continue
        elif element is None:
            continue
        elif isinstance(value, list):
            left = [_shown(element.rule, item, set()) for item in value if is_shown(item, element.filter)]
            left = [item for item in left if item]
        else:
            left = _shown(element.rule, value, set())
        if left:
            shown[name] = left
    return shown


def _shown_extensions(rule: ProfileRule, extensions: Body) -> Body:
    shown = {}
    for key, added in extensions.items():
        element = _extension(rule, key)
        if element is None:
            left = added if rule.selection is not MemberSelection.INCLUDE_ONLY else {}
        else:
            left = _shown(element.rule, added, set())
        if left:
            shown[key] = left
    return shown


def _combined(rule: ProfileRule, stored: Body, sent: Body, always: set[str]) -> Body:
    combined = {}
    for name, value in stored.items():
        element = _element(rule, name)
        if name == _EXT:
            combined[name] = {
                key: _combined_extension(rule, key, added, sent[name][key]) for key, added in value.items()
            }
        elif name in always or (element is None and _is_whole(rule, name)):
            combined[name] = sent[name]
        elif element is None:
            combined[name] = value
        elif isinstance(value, list):
            pairs = zip(value, sent[name], strict=True)
            combined[name] = [
                _combined(element.rule, ours, theirs, set()) if is_shown(ours, element.filter) else ours
                for ours, theirs in pairs
            ]
        else:
            combined[name] = _combined(element.rule, value, sent[name], set())
    return combined


def _combined_extension(rule: ProfileRule, key: str, stored: Body, sent: Body) -> Body:
    element = _extension(rule, key)
    if element is None:
        return stored if rule.selection is MemberSelection.INCLUDE_ONLY else sent
    return _combined(element.rule, stored, sent, set())


def _spoilt(rule: ProfileRule, body: Body, always: set[str]) -> Body:
    spoilt: Body = {}
    for name, value in body.items():
        element = _element(rule, name)
        if name == _EXT:
            spoilt[name] = {key: _spoilt_extension(rule, key, added) for key, added in value.items()}
        elif name in always or (element is None and _is_whole(rule, name)):
            spoilt[name] = value
        elif element is None:
            spoilt[name] = [{"nonsense": 1.5}, None]
        elif isinstance(value, list):
            items = [_spoilt(element.rule, item, set()) for item in value if is_shown(item, element.filter)]
            spoilt |= {name: items} if items else {}
        else:
            spoilt[name] = _spoilt(element.rule, value, set())
    return spoilt


def _spoilt_extension(rule: ProfileRule, key: str, added: Body) -> Any:
    element = _extension(rule, key)
    if element is None:
        return "nonsense" if rule.selection is MemberSelection.INCLUDE_ONLY else added
    return _spoilt(element.rule, added, set())


def _lacking(schema: Body, rule: ProfileRule, sent: Body, always: set[str]) -> Iterator[str]:
    """The required members that are hidden, of the object and of every narrowed thing that is sent in it."""
    for name in schema.get("required", ()):
        if name not in always and _element(rule, name) is None and not _is_whole(rule, name):
            yield name
    for element in rule.elements:
        if element.kind is ElementKind.EXTENSION:
            extensions = schema["properties"].get(_EXT, {}).get("properties", {})
            for key, added in sent.get(_EXT, {}).items():
                if key.lower() == element.name.lower() and _shows_anything(extensions[key], element.rule):
                    yield from _lacking_or_empty(extensions[key], element, added)
        elif element.kind is ElementKind.COLLECTION:
            for item in sent.get(element.name, []):
                if is_shown(item, element.filter):
                    yield from _lacking(schema["properties"][element.name]["items"], element.rule, item, set())
        elif element.name in sent:
            yield from _lacking_or_empty(schema["properties"][element.name], element, sent[element.name])


def _lacking_or_empty(schema: Body, element: RuleElement, sent: Body) -> Iterator[str]:
    """Also an object of which nothing is left."""
    if not _shown(element.rule, sent, set()):
        yield element.name
    yield from _lacking(schema, element.rule, sent, set())


def _shows_anything(schema: Body, rule: ProfileRule) -> bool:
    return any(_element(rule, name) is not None or _is_whole(rule, name) for name in schema["properties"])
