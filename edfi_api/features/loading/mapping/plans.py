"""The compiled rules of a mapping file: for each resource, where each of its values goes.

Compiling checks every name against the surfaces of both standards, and that every member of the first one has a place
in the second or is listed as lost. All faults are collected.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from edfi_api.core.documents.paths import as_text
from edfi_api.features.loading.mapping.files import (
    Fault,
    InvalidMapping,
    Making,
    MappedSource,
    MappingFile,
    ResourceRules,
    Value,
)
from edfi_api.model.surface.resource import ALL_ITEMS, JsonPath, ReferencePath, Resource, ResourceName, Surface

Steps = tuple[str, ...]
_Leaf = str | ReferencePath


@dataclass(frozen=True, slots=True)
class _MappedMembers:
    """The leaves of bodies: values, with their JSON type, and references. `inside` are the values in references."""

    leaves: Mapping[Steps, _Leaf]
    inside: Mapping[Steps, str]

    def at(self, steps: Steps) -> _Leaf | None:
        return self.leaves.get(steps) or self.inside.get(steps)

    def below(self, steps: Steps) -> list[Steps]:
        """The leaves at and below a path."""
        return [leaf for leaf in self.leaves if leaf[: len(steps)] == steps]

    def missing(self, leaf: Steps) -> Steps:
        """The beginning of a path that no leaf here has."""
        known = {path[:length] for path in (*self.leaves, *self.inside) for length in range(len(path) + 1)}
        length = next(length for length in range(len(leaf) + 1) if leaf[:length] not in known)
        return leaf[: length if leaf[length - 1] != ALL_ITEMS else length - 1]

    def with_open(self, references: Collection[Steps]) -> "_MappedMembers":
        """Return the members with the values of these references as leaves instead of the references."""
        leaves = {path: leaf for path, leaf in self.leaves.items() if path not in references}
        leaves.update((path, kind) for path, kind in self.inside.items() if path[:-1] in references)
        return _MappedMembers(leaves, self.inside)


def _members_of(resource: Resource) -> _MappedMembers:
    references = {reference.path.steps: reference for reference in resource.references}
    values = dict(_values(resource.json_schema, ()))
    inside = {path: kind for path, kind in values.items() if path[:-1] in references}
    leaves: dict[Steps, _Leaf] = {path: kind for path, kind in values.items() if path not in inside}
    return _MappedMembers({**leaves, **references}, inside)


def arrays_of(steps: Steps) -> tuple[Steps, ...]:
    """The paths of the arrays in a path."""
    return tuple(steps[:position] for position, step in enumerate(steps) if step == ALL_ITEMS)


def _steps_of(text: str) -> Steps:
    """Return the steps of a path as files write it: `addresses[*].city`."""
    return JsonPath.parse(f"$.{text}").steps


def text_of(steps: Steps) -> str:
    return JsonPath(steps).without_root()


def _values(schema: Mapping[str, Any], steps: Steps) -> Iterator[tuple[Steps, str]]:
    match schema.get("type"):
        case "object":
            for name, member in schema.get("properties", {}).items():
                if name != "_ext":
                    yield from _values(member, (*steps, name))
        case "array":
            yield from _values(schema["items"], (*steps, ALL_ITEMS))
        case kind:
            yield steps, str(kind)


KEY = "key"
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
_DESCRIPTOR_URI = re.compile(r"\w+://[^#]*Descriptor#(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Template:
    """`names` are the paths of the values in it."""

    value: Value
    names: tuple[str, ...]

    @classmethod
    def parse(cls, value: Value) -> "Template":
        return cls(value, tuple(_PLACEHOLDER.findall(value)) if isinstance(value, str) else ())

    def filled(self, body: Mapping[str, Any], key: Callable[[], str | None]) -> Value | None:
        """The value, or None if the body lacks one of those in it. Of a descriptor its code value is taken."""
        if not self.names:
            return self.value
        values = {name: key() if name == KEY else value_at(body, _steps_of(name)) for name in self.names}
        if None in values.values():
            return None
        return _PLACEHOLDER.sub(lambda found: _in_words(values[found[1]]), str(self.value))


def value_at(body: Any, steps: tuple[str, ...]) -> Any:
    for step in steps:
        body = body.get(step) if isinstance(body, Mapping) else None
    return body


def _in_words(value: Any) -> str:
    text = as_text(value)
    found = _DESCRIPTOR_URI.fullmatch(text)
    return found[1] if found else text


@dataclass(frozen=True, slots=True)
class Move:
    """A value goes to this path, whose arrays come from `origins`. The key of a `reference` is translated."""

    to: Steps
    origins: tuple[Steps, ...]
    reference: "ReferencePlan | None" = None


@dataclass(frozen=True, slots=True)
class Lost:
    """A value has no place; `path` is how it is reported."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """A value is in another document."""


@dataclass(frozen=True, slots=True)
class ReferencePlan:
    """The names of the key values in the reference, and their paths in its target; before and after."""

    target: ResourceName
    before: tuple[tuple[str, Steps], ...]
    after: tuple[tuple[str, Steps], ...]


Action = Move | Lost | Elsewhere


@dataclass(frozen=True, slots=True)
class MappingPlan:
    """Says where the values of a body go, and what is given if it is missing.

    `joined` are the arrays whose items come from several members, with the paths that tell the items apart. Members
    that the standard does not know stay where they are, if `keeps_unknown`.
    """

    actions: Mapping[Steps, Action]
    containers: frozenset[Steps]
    given: tuple[tuple[Steps, Template], ...]
    joined: tuple[tuple[str, tuple[Steps, ...]], ...] = ()
    keeps_unknown: bool = True


@dataclass(frozen=True, slots=True)
class MakingPlan:
    """A further document, of each item at `each` or of the whole document."""

    target: Resource
    each: Steps | None
    plan: MappingPlan


@dataclass(frozen=True, slots=True)
class ResourcePlan:
    """The plan for the documents of a resource: one of `target`, none if they are `lost`, and further ones."""

    source: Resource
    target: Resource | None
    lost: str | None
    plan: MappingPlan
    makes: tuple[MakingPlan, ...]


def compile_plans(
    file: MappingFile, source: MappedSource, before: Surface, after: Surface
) -> dict[ResourceName, ResourcePlan]:
    """The plans of all resources of the core project. Raises InvalidMapping with every fault."""
    compiling = _Compiling(file, source, _core(before), _core(after))
    plans = compiling.plans()
    if compiling.faults:
        raise InvalidMapping(compiling.faults)
    return plans


def _core(surface: Surface) -> dict[str, Resource]:
    project = surface.core_project.name
    return {resource.endpoint: resource for resource in surface.resources if resource.name.project == project}


@dataclass
class _Compiling:
    file: MappingFile
    source: MappedSource
    before: Mapping[str, Resource]
    after: Mapping[str, Resource]
    faults: list[Fault] = field(default_factory=list)
    # The resources whose place is not known: a fault of their own, and none of what refers to them.
    _broken: set[ResourceName] = field(default_factory=set)

    def plans(self) -> dict[ResourceName, ResourcePlan]:
        for endpoint in self.file.resources:
            if endpoint not in self.before:
                self.add_fault(f"{self.file.from_} has no such resource{_hint(endpoint, self.before)}", endpoint)
        self._targets = {resource.name: self._target(resource) for resource in self.before.values()}
        return {resource.name: self._plan(resource) for resource in self.before.values()}

    def _rules(self, resource: Resource) -> ResourceRules:
        return self.file.resources.get(resource.endpoint, ResourceRules())

    def _target(self, resource: Resource) -> Resource | None:
        rules, endpoint = self._rules(resource), resource.endpoint
        if rules.lost is not None or (rules.makes and rules.to is None and endpoint not in self.after):
            return None
        found = self.after.get(rules.to or endpoint)
        if found is None:
            self.add_fault(
                f"{self._no_resource(rules.to or endpoint)}; name another with 'to', or say with 'lost' why its "
                "documents are left out",
                endpoint,
            )
            self._broken.add(resource.name)
        return found

    def _no_resource(self, endpoint: str) -> str:
        return f"{self.file.to} has no resource {endpoint}{_hint(endpoint, self.after)}"

    def _plan(self, resource: Resource) -> ResourcePlan:
        rules, target = self._rules(resource), self._targets[resource.name]
        members = _members_of(resource)
        named = set(map(_steps_of, _all_sources(rules)))
        members = members.with_open({path[:-1] for path in named if path in members.inside})
        makings = [self._making(resource, members, each) for each in rules.makes]
        plan = MappingPlan({}, frozenset(), ())
        if resource.name not in self._broken and (target is not None or rules.makes):
            table = _Table(self, resource, members, target, ("members",))
            plan = self._main_plan(table, rules)
        return ResourcePlan(resource, target, rules.lost, plan, tuple(making for making in makings if making))

    def _main_plan(self, table: "_Table", rules: ResourceRules) -> MappingPlan:
        table.move(rules.members)
        table.lose(rules.lost_members)
        made = {path for making in rules.makes for path in making.members}
        elsewhere = {leaf for path in made for leaf in table.members.below(_steps_of(path))}
        for leaf in table.members.leaves:
            if leaf in table.actions or table.is_lost(leaf):
                continue
            if leaf in elsewhere and table.there.at(leaf) is None:
                table.actions[leaf] = Elsewhere()
            else:
                table.keep(leaf)
        return table.plan(self._given(table, rules.given, ("given",)), ("given",))

    def _making(self, resource: Resource, members: _MappedMembers, making: Making) -> MakingPlan | None:
        keys = ("makes",)
        target = self.after.get(making.to)
        if target is None:
            self.add_fault(self._no_resource(making.to), resource.endpoint, *keys, "to")
            return None
        each = _steps_of(making.each) if making.each is not None else None
        if each is not None and (len(each) > 1 or not members.below((*each, ALL_ITEMS))):
            self.add_fault(f"{self.file.from_} has no array {making.each}", resource.endpoint, *keys, "each")
        table = _Table(self, resource, members, target, (*keys, "members"))
        table.move(making.members)
        for leaf in members.leaves:
            table.actions.setdefault(leaf, Elsewhere())
        given = self._given(table, making.given, (*keys, "given"))
        return MakingPlan(target, each, table.plan(given, (*keys, "given"), keeps_unknown=False))

    def _given(
        self, table: "_Table", given: Mapping[str, Value], keys: tuple[str, ...]
    ) -> Iterator[tuple[Steps, Template]]:
        for path, value in given.items():
            if not isinstance(table.there.at(_steps_of(path)), str):
                self.add_fault(table.place % f"value {path}", table.resource.endpoint, *keys, path)
                continue
            template = Template.parse(value)
            for name in template.names:
                if name != KEY and not isinstance(table.members.at(_steps_of(name)), str):
                    self.add_fault(f"{self.file.from_} has no value {name}", table.resource.endpoint, *keys, path)
            yield _steps_of(path), template

    def reference(self, found: ReferencePath, there: _Leaf | None) -> ReferencePlan | str:
        """The plan of a reference, or what is wrong with its place."""
        if not isinstance(there, ReferencePath):
            return "is a reference, and its place is none"
        target = self._targets.get(found.target)
        if found.target in self._broken:
            return ReferencePlan(found.target, (), ())
        name = target.name if target is not None else found.target
        if found.target in self._targets and target is None:
            return f"refers to {found.target.resource}, whose documents are left out"
        if there.target != name:
            return f"would refer to {there.target.resource} instead of {name.resource}"
        return ReferencePlan(found.target, _pairs(found), _pairs(there))

    def add_fault(self, reason: str, *keys: str) -> None:
        self.faults.append(self.source.fault(reason, "resources", *keys))


@dataclass
class _Table:
    """The actions of one plan while it is compiled."""

    compiling: _Compiling
    resource: Resource
    members: _MappedMembers
    target: Resource | None
    keys: tuple[str, ...]
    actions: dict[Steps, Action] = field(default_factory=dict)
    reported: set[Steps] = field(default_factory=set)
    has_faults: bool = False

    def __post_init__(self) -> None:
        self.there = _MappedMembers({}, {}) if self.target is None else _members_of(self.target)
        self.place = f"{self.compiling.file.to} has no %s in {(self.target or self.resource).endpoint}"

    def move(self, moves: Mapping[str, str]) -> None:
        """Paths → paths, each with all that is below it; longer ones count more."""
        for path, to in sorted(moves.items(), key=lambda move: len(_steps_of(move[0]))):
            steps = _steps_of(path)
            leaves = self.members.below(steps)
            if not leaves:
                self._report_unknown(path, self.keys)
            for leaf in leaves:
                self._put(leaf, _steps_of(to) + leaf[len(steps) :], steps, (*self.keys, path))

    def lose(self, lost: Mapping[str, str]) -> None:
        for path, reason in lost.items():
            steps = _steps_of(path)
            leaves = self.members.below(steps)
            if not leaves:
                self._report_unknown(path, ("lost_members",))
            if not any(leaf in self.actions for leaf in leaves):
                self.actions[steps] = Lost(path, reason)
                continue
            for leaf in leaves:
                self.actions.setdefault(leaf, Lost(text_of(leaf), reason))

    def is_lost(self, leaf: Steps) -> bool:
        return any(isinstance(self.actions.get(leaf[:length]), Lost) for length in range(1, len(leaf)))

    def keep(self, leaf: Steps) -> None:
        if self.there.at(leaf) is not None:
            self._put(leaf, leaf, leaf, ("members", text_of(leaf)))
            return
        missing = self.there.missing(leaf)
        if missing not in self.reported:
            self.reported.add(missing)
            self._add_fault(
                f"{self.place % text_of(missing)}; say under 'members' where it goes, or under 'lost_members' why it "
                "is left out",
                ("members", text_of(missing)),
            )

    def plan(
        self, given: Iterable[tuple[Steps, Template]], keys: tuple[str, ...], *, keeps_unknown: bool = True
    ) -> MappingPlan:
        values = tuple(given)
        self._require({path[0] for path, _ in values}, keys)
        prefixes = {path[:length] for path in self.actions for length in range(1, len(path))}
        return MappingPlan(self.actions, frozenset(prefixes), values, tuple(self._joined()), keeps_unknown)

    def _require(self, given: set[str], keys: tuple[str, ...]) -> None:
        """A fault for each member that every document must have and nothing gives."""
        if self.target is None or self.has_faults:
            return
        arriving = {action.to[0] for action in self.actions.values() if isinstance(action, Move)} | given
        for name in self.target.json_schema.get("required", ()):
            if name not in arriving:
                needed = f"{self.compiling.file.to} requires {name} in {self.target.endpoint}"
                self._add_fault(f"{needed}, which no member becomes; say under 'given' what it is", (*keys, name))

    def _joined(self) -> Iterator[tuple[str, tuple[Steps, ...]]]:
        origins: dict[Steps, set[Steps]] = defaultdict(set)
        for action in self.actions.values():
            if isinstance(action, Move) and action.origins:
                origins[arrays_of(action.to)[0]].add(action.origins[0])
        for unique in self.target.array_uniqueness if self.target is not None else ():
            if len(origins[unique.array.steps]) > 1 and len(unique.array.steps) == 1:
                yield unique.array.steps[0], tuple(path.steps for path in unique.item_paths)

    def _put(self, leaf: Steps, to: Steps, moved: Steps, keys: tuple[str, ...]) -> None:
        kind, there = self.members.at(leaf), self.there.at(to)
        arrays = arrays_of(leaf)
        count = len(arrays_of(to))
        origins = (arrays + (moved,) * count)[:count]
        self.actions[leaf] = Elsewhere()  # Unless there is no fault.
        if there is None:
            known = map(text_of, (*self.there.leaves, *self.there.inside))
            self._add_fault(f"{self.place % text_of(to)}{_hint(text_of(to), known)}", keys)
        elif isinstance(kind, ReferencePath):
            found = self.compiling.reference(kind, there)
            if isinstance(found, str):
                self._add_fault(f"{text_of(leaf)} {found}", keys)
            else:
                self.actions[leaf] = Move(to, origins, found)
        elif isinstance(there, ReferencePath) or {kind, there} not in ({kind}, {"integer", "number"}):
            self._add_fault(f"{text_of(leaf)} is a value of type {kind}, and {text_of(to)} is not", keys)
        else:
            self.actions[leaf] = Move(to, origins)

    def _report_unknown(self, path: str, keys: tuple[str, ...]) -> None:
        known = map(text_of, self.members.leaves)
        missing = f"{self.compiling.file.from_} has no {path} in {self.resource.endpoint}"
        self._add_fault(f"{missing}{_hint(path, known)}", (*keys, path))

    def _add_fault(self, reason: str, keys: tuple[str, ...]) -> None:
        self.has_faults = True
        self.compiling.add_fault(reason, self.resource.endpoint, *keys)


def _all_sources(rules: ResourceRules) -> Iterator[str]:
    yield from rules.members
    yield from rules.lost_members
    for making in rules.makes:
        yield from making.members


def _pairs(reference: ReferencePath) -> tuple[tuple[str, Steps], ...]:
    return tuple((pair.here.steps[-1], pair.there.steps) for pair in reference.identity)


def _hint(name: str, known: Iterable[str]) -> str:
    close = get_close_matches(name, list(known), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""
