"""The natural keys of operations: the identity of a document, as in its body or flat → the identity part of a body."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from edfi_api.common.conf import api_settings
from edfi_api.core.documents import violations
from edfi_api.core.documents.body_reader import BodyReader
from edfi_api.core.documents.coercion import trim_descriptor
from edfi_api.core.documents.exceptions import DataValidationFailed
from edfi_api.core.documents.member_names import OtherNames
from edfi_api.core.documents.validation import BodyValidator
from edfi_api.core.documents.violations import Leniency, Violation
from edfi_api.model.surface.resource import JsonPath, Resource, ResourceName
from edfi_api.web.problem_details.catalog.served_names import renamed

_MEMBER = "$.naturalKey"
_DESCRIPTOR = "descriptor"
Read = tuple[dict[str, Any] | None, list[Violation]]


class NaturalKeys:
    """Reads the natural keys of all resources; each resource is compiled at its first key."""

    def __init__(self) -> None:
        self._compiled: dict[ResourceName, _Key] = {}

    def read(self, resource: Resource, sent: Mapping[str, Any]) -> Read:
        """The members of a body that has this identity, or what is wrong with it."""
        try:
            return self._of(resource).read(sent, any_case=api_settings.MEMBERS_IN_ANY_CASE), []
        except DataValidationFailed as failed:
            names = OtherNames.of(resource.served_names)
            found = (renamed(each, names) for each in failed.violations)
            return None, [replace(each, path=f"{_MEMBER}{each.path[1:]}") for each in found]

    def part_of(self, resource: Resource, document: dict[str, Any]) -> dict[str, Any] | None:
        """The members of a document that are its identity; None if they are not valid. The others need not be."""
        try:
            return self._of(resource).checked(document)
        except DataValidationFailed:
            return None

    def _of(self, resource: Resource) -> "_Key":
        if resource.name not in self._compiled:
            self._compiled[resource.name] = _Key.of(resource)
        return self._compiled[resource.name]


@dataclass(frozen=True)
class _Key:
    """The identity of one resource."""

    resource: Resource
    members: frozenset[str]
    # Maps the last step to the paths of the identity; those that always have the same value are one.
    by_last_step: Mapping[str, tuple[JsonPath, ...]]
    ambiguous: frozenset[str]
    reader: BodyReader
    validator: BodyValidator

    @classmethod
    def of(cls, resource: Resource) -> "_Key":
        schema = _identity_schema(resource.json_schema, [path.steps for path in resource.identity])
        by_last_step: dict[str, tuple[JsonPath, ...]] = {}
        for path in resource.identity:
            by_last_step[path.steps[-1]] = (*by_last_step.get(path.steps[-1], ()), path)
        return cls(
            resource,
            frozenset(path.steps[0] for path in resource.identity),
            by_last_step,
            frozenset(name for name, paths in by_last_step.items() if not _are_one_value(paths, resource)),
            BodyReader(schema, served=resource.served_names),
            BodyValidator(replace(resource, json_schema=schema, array_uniqueness=(), decimals=())),
        )

    def read(self, sent: Mapping[str, Any], *, any_case: bool) -> dict[str, Any]:
        """Raises DataValidationFailed."""
        sent = self._in_canonical_case(sent, any_case=any_case)
        if self.resource.is_descriptor and list(sent) == [_DESCRIPTOR]:
            sent = _of_uri(sent[_DESCRIPTOR])
        nested, body, refused = self.reader.read(self._nested(sent), Leniency(any_case=any_case))
        if refused:
            raise DataValidationFailed(refused)
        body = self._valid(body)
        if unknown := [f"$.{path}" for path in _dropped(nested, body)]:
            raise DataValidationFailed([violations.impossible_member(path) for path in unknown])
        return body

    def checked(self, sent: dict[str, Any]) -> dict[str, Any]:
        """The identity in a body. Raises DataValidationFailed."""
        return self._valid(self.reader.read(sent).body)

    def _valid(self, body: dict[str, Any]) -> dict[str, Any]:
        if self.resource.is_descriptor:
            body = trim_descriptor(body)
        self.validator.validate_schema(body)
        self.validator.validate_values(body)
        return body

    def _in_canonical_case(self, sent: Mapping[str, Any], *, any_case: bool) -> Mapping[str, Any]:
        """The names at the root, where the members of references may stand, too. Raises DataValidationFailed."""
        names = (*self.members, *self.by_last_step, *([_DESCRIPTOR] if self.resource.is_descriptor else ()))
        served = {other.name: other.path.steps[-1] for other in self.resource.served_names}
        by_lower = {other.lower(): name for other, name in served.items() if name in names}
        by_lower |= {name.lower(): name for name in names}
        found: dict[str, Any] = {}
        for name, value in sent.items():
            canonical = by_lower.get(name.lower(), name)
            if canonical in found:
                raise DataValidationFailed([violations.spelt_twice(f"$.{name}", canonical)])
            if canonical not in (name, served.get(name)) and not any_case:
                raise DataValidationFailed([violations.other_case(f"$.{name}", canonical)])
            found[canonical] = value
        return found

    def _nested(self, sent: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values in the form of the body."""
        nested: dict[str, Any] = {}
        for name, value in sent.items():
            if name in self.members and (isinstance(value, dict) or (name,) in self._own_paths):
                _merge(nested, {name: value})
            elif name in self.ambiguous:
                paths = ", ".join(str(path)[2:] for path in self.by_last_step[name])
                raise DataValidationFailed([violations.unknown_rule(f"$.{name}", f"{name} may be any of: {paths}.")])
            elif name in self.by_last_step:
                for path in self.by_last_step[name]:
                    _merge(nested, _tree(path.steps, value))
            else:
                nested[name] = value
        return nested

    @property
    def _own_paths(self) -> set[tuple[str, ...]]:
        return {path.steps for path in self.resource.identity}


def _identity_schema(schema: Mapping[str, Any], paths: Iterable[tuple[str, ...]]) -> dict[str, Any]:
    """The part of the schema of a body that is its identity; everything in it is required."""
    below: dict[str, list[tuple[str, ...]]] = {}
    for first, *rest in paths:
        below.setdefault(first, []).append(tuple(rest))
    properties = {
        name: _identity_schema(schema["properties"][name], rests) if any(rests) else schema["properties"][name]
        for name, rests in below.items()
    }
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _are_one_value(paths: tuple[JsonPath, ...], resource: Resource) -> bool:
    """Return whether equality constraints make all of them equal."""
    reached, is_growing = {paths[0]}, True
    while is_growing:
        ends = [{rule.source, rule.target} for rule in resource.equality_constraints]
        grown = reached.union(*(pair for pair in ends if pair & reached))
        is_growing, reached = grown != reached, grown
    return reached.issuperset(paths)


def _of_uri(uri: Any) -> dict[str, Any]:
    namespace, separator, code_value = uri.partition("#") if isinstance(uri, str) else ("", "", "")
    if not separator:
        raise DataValidationFailed([violations.wrong_format(f"$.{_DESCRIPTOR}", "descriptor")])
    return {"namespace": namespace, "codeValue": code_value}


def _tree(steps: tuple[str, ...], value: Any) -> dict[str, Any]:
    for step in reversed(steps):
        value = {step: value}
    tree: dict[str, Any] = value
    return tree


def _merge(into: dict[str, Any], tree: Mapping[str, Any]) -> None:
    for name, value in tree.items():
        if isinstance(value, dict) and isinstance(into.get(name), dict):
            _merge(into[name], value)
        else:
            into[name] = dict(value) if isinstance(value, dict) else value


def _dropped(sent: Mapping[str, Any], kept: Mapping[str, Any]) -> list[str]:
    """The paths of members that coercion has dropped as unknown."""
    found = []
    for name, value in sent.items():
        if name not in kept:
            found.append(name)
        elif isinstance(value, dict) and isinstance(kept[name], dict):
            found += [f"{name}.{path}" for path in _dropped(value, kept[name])]
    return found
