"""Bodies of one standard → bodies of another; what is left out or filled in is counted by member."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from edfi_api.common.conf import api_settings, source_path
from edfi_api.core.documents.exceptions import DataValidationFailed
from edfi_api.core.documents.extraction import Extractor
from edfi_api.core.documents.paths import as_text
from edfi_api.core.served import compilation_of
from edfi_api.features.loading.mapping.files import LeadsElsewhere, MappingFile, UnknownMapping, read
from edfi_api.features.loading.mapping.plans import (
    Elsewhere,
    Lost,
    MakingPlan,
    MappingPlan,
    Move,
    ReferencePlan,
    ResourcePlan,
    Steps,
    arrays_of,
    compile_plans,
    text_of,
    value_at,
)
from edfi_api.model.surface.resource import ALL_ITEMS, Resource, ResourceName, Surface
from references.descriptor_uri import comparable

_ONE_IS_KEPT = "there is place for one only"
_GIVES_NONE = "its members give no document"
_SAME_KEY = "another item has the same key"


class UnmappedPlace(NamedTuple):
    """A member of the documents of a resource (its endpoint), or the documents themselves if the path is empty."""

    mapping: str
    resource: str
    path: str
    reason: str


@dataclass(slots=True)
class UnmappedCounts:
    """Counts of values: of an array each item counts with its members. `given` are values that a mapping filled in."""

    lost: Counter[UnmappedPlace] = field(default_factory=Counter)
    given: Counter[UnmappedPlace] = field(default_factory=Counter)

    def lines(self) -> list[str]:
        """A line for each place, the most frequent first."""
        kinds = (("lost", self.lost), ("given", self.given))
        return [_line(kind, place, count) for kind, counts in kinds for place, count in counts.most_common()]

    def facts(self) -> dict[str, list[dict[str, Any]]]:
        """Return the facts for the JSON report of a load."""
        return {"lost": _facts(self.lost), "given": _facts(self.given)}


def _line(kind: str, place: UnmappedPlace, count: int) -> str:
    what = f"{place.resource} {place.path}" if place.path else f"documents of {place.resource}"
    return f"{kind}: {what}: {count:,} ({place.reason})"


def _facts(counts: Counter[UnmappedPlace]) -> list[dict[str, Any]]:
    return [place._asdict() | {"count": count} for place, count in counts.most_common()]


class DescriptorValues:
    """`values` map URIs, `namespaces` those of all other values in them; both without regard to case."""

    def __init__(self, namespaces: Mapping[str, str], values: Mapping[str, str]) -> None:
        self._namespaces = {comparable(namespace): new for namespace, new in namespaces.items()}
        self._values = {comparable(uri): new for uri, new in values.items()}

    def mapped(self, value: Any) -> Any:
        """A value, or a body with all its values: each text that is a URI to be mapped."""
        if isinstance(value, dict):
            return {name: self.mapped(member) for name, member in value.items()}
        if not isinstance(value, str) or "#" not in value:
            return value
        if found := self._values.get(comparable(value)):
            return found
        namespace, _, code = value.partition("#")
        new = self._namespaces.get(comparable(namespace))
        return value if new is None else f"{new}#{code}"

    def of_document(self, body: dict[str, Any]) -> dict[str, Any]:
        """The document of a descriptor."""
        namespace, code = body.get("namespace"), body.get("codeValue")
        if not isinstance(namespace, str) or not isinstance(code, str):
            return body
        new_namespace, _, new_code = str(self.mapped(f"{namespace}#{code}")).partition("#")
        return {**body, "namespace": new_namespace, "codeValue": new_code}


class _Items(dict[tuple[Steps, int], Any]):
    """The items of an array, by the paths of the arrays that they come from and their indexes in these."""


class MappedBody:
    """A body that is made value by value, in any order."""

    def __init__(self) -> None:
        self._root: dict[Any, Any] = {}

    def put(self, path: Steps, origins: Iterable[Steps], indexes: tuple[int, ...], value: Any) -> bool:
        """Put a value at a path; whether there was none yet.

        `origins` are the paths of what its arrays come from, `indexes` those in these; 0 where it is no array.
        """
        node, items = self._root, zip_longest(origins, indexes, fillvalue=0)
        for step, following in pairwise(path):
            key = next(items) if step == ALL_ITEMS else step
            node = node.setdefault(key, _Items() if following == ALL_ITEMS else {})
            if not isinstance(node, dict):
                return False
        if path[-1] in node:
            return False
        node[path[-1]] = value
        return True

    def finished(self) -> dict[str, Any]:
        found: dict[str, Any] = _finished(self._root)
        return found

    @staticmethod
    def give(body: Any, path: Steps, value: Any) -> int:
        """Put a value where it is missing: in the body, or in each item of its arrays. The number of places."""
        step, rest = path[0], path[1:]
        if step == ALL_ITEMS:
            return sum(MappedBody.give(item, rest, value) for item in body) if isinstance(body, list) else 0
        if not isinstance(body, dict):
            return 0
        if not rest:
            is_missing = body.get(step) is None
            if is_missing:
                body[step] = value
            return int(is_missing)
        if rest[0] == ALL_ITEMS:
            return MappedBody.give(body.get(step), rest, value)
        return MappedBody.give(body.setdefault(step, {}), rest, value)


def _finished(node: Any) -> Any:
    if isinstance(node, _Items):
        return [_finished(item) for item in node.values()]
    if isinstance(node, dict):
        return {name: _finished(member) for name, member in node.items()}
    return node


class Translated(NamedTuple):
    """A body of the other standard."""

    resource: ResourceName
    body: Any


class Translator:
    """A chain of steps, each from one standard to the next: from documents of `before` to those of `after`."""

    def __init__(self, before: Surface, after: Surface, steps: Sequence["Step"]) -> None:
        self.before = before
        self.after = after
        self._steps = steps

    def translate(self, resource: ResourceName, body: Any, unmapped: UnmappedCounts) -> list[Translated]:
        """The documents that one gives: none if it is lost, several if its members are in several there. Bodies that
        are no objects, and documents of extensions, stay as they are. What does not arrive is added to `unmapped`."""
        found = [Translated(resource, body)]
        for step in self._steps:
            found = [further for each in found for further in step.translate(each.resource, each.body, unmapped)]
        return found


@dataclass
class Step:
    """One mapping file."""

    name: str
    plans: Mapping[ResourceName, ResourcePlan]
    values: DescriptorValues
    _extractors: dict[ResourceName, Extractor] = field(default_factory=dict)

    def translate(self, resource: ResourceName, body: Any, unmapped: UnmappedCounts) -> Iterator[Translated]:
        plan = self.plans.get(resource)
        if plan is None or not isinstance(body, dict):
            yield Translated(plan.target.name if plan and plan.target else resource, body)
            return
        count = _Counting(self.name, plan.source.endpoint, unmapped)
        if plan.target is not None:
            yield Translated(plan.target.name, self._document(plan, body, count))
        made = [each for making in plan.makes for each in self._made(plan, making, body, count)]
        if plan.target is None and not made:
            count.count_lost("", plan.lost or _GIVES_NONE)
        yield from made

    def _document(self, plan: ResourcePlan, body: dict[str, Any], count: "_Counting | None") -> dict[str, Any]:
        found = self._filled(plan, plan.plan, body, count)
        return self.values.of_document(found) if plan.source.is_descriptor else found

    def _filled(
        self, of: ResourcePlan, plan: MappingPlan, body: dict[str, Any], count: "_Counting | None"
    ) -> dict[str, Any]:
        walk = _Walk(self, plan, count)
        walk.translate_object(body, (), ())
        found = walk.found.finished()
        for array, key in plan.joined:
            self._drop_repetitions(found, array, key, count)
        for path, template in plan.given:
            value = template.filled(body, lambda: self._key(of.source, body))
            if value is not None and walk.found.give(found, path, value) and count is not None:
                count.count_given(text_of(path), f"{template.value}")
        return found

    @staticmethod
    def _drop_repetitions(body: dict[str, Any], array: str, key: tuple[Steps, ...], count: "_Counting | None") -> None:
        items = body.get(array, [])
        by_key = {tuple(as_text(value_at(item, path)) for path in key): item for item in reversed(items)}
        if len(by_key) < len(items):
            body[array] = list(reversed(by_key.values()))
            if count is not None:
                count.count_lost(array, _SAME_KEY, len(items) - len(by_key))

    def _made(
        self, plan: ResourcePlan, making: MakingPlan, body: dict[str, Any], count: "_Counting"
    ) -> Iterator[Translated]:
        keys = set()
        for part in _parts(body, making.each):
            found = self._filled(plan, making.plan, part, None)
            if making.each is None and not _has_more_than_its_key(making.target, found):
                continue
            key = self._key(making.target, found)
            if key is not None and key in keys:
                count.count_lost(text_of(making.each or ()), _SAME_KEY)
                continue
            keys.add(key)
            yield Translated(making.target.name, found)

    def _key(self, resource: Resource, body: dict[str, Any]) -> str | None:
        """A digest of the key; None if a value of it is missing."""
        if resource.name not in self._extractors:
            self._extractors[resource.name] = Extractor(resource)
        try:
            return self._extractors[resource.name].own_identity(body).referential_id.hex
        except (DataValidationFailed, LookupError, TypeError, AttributeError):
            return None

    def reference(self, plan: ReferencePlan, value: Any) -> Any:
        """A reference with the key of its target as the target has it there."""
        if not isinstance(value, dict):
            return value
        names = {name for name, _ in plan.before}
        others = {name: member for name, member in value.items() if name not in names and name != "link"}
        key = self._target_key(plan, value)
        members = {name: found for name, path in plan.after if (found := value_at(key, path)) is not None}
        return others | members

    def _target_key(self, plan: ReferencePlan, value: dict[str, Any]) -> dict[str, Any]:
        """The values of the target's key, as its body has them there."""
        before = MappedBody()
        for name, path in plan.before:
            if value.get(name) is not None:
                before.put(path, (), (), value[name])
        key = before.finished()
        target = self.plans.get(plan.target)
        return self.values.mapped(key) if target is None else self._document(target, key, None)


@dataclass
class _Counting:
    """Counts what becomes of the documents of one resource."""

    mapping: str
    resource: str
    unmapped: UnmappedCounts

    def count_lost(self, path: str, reason: str, number: int = 1) -> None:
        self.unmapped.lost[UnmappedPlace(self.mapping, self.resource, path, reason)] += number

    def count_given(self, path: str, value: str) -> None:
        self.unmapped.given[UnmappedPlace(self.mapping, self.resource, path, value)] += 1


@dataclass
class _Walk:
    """One body on its way into another."""

    step: Step
    plan: MappingPlan
    count: _Counting | None
    found: MappedBody = field(default_factory=MappedBody)

    def translate_object(self, members: Mapping[str, Any], above: Steps, indexes: tuple[int, ...]) -> None:
        for name, value in members.items():
            path = (*above, name)
            action = self.plan.actions.get(path)
            if action is not None:
                self._carry_out(action, path, indexes, value)
            elif path in self.plan.containers:
                self._translate_container(value, path, indexes)
            else:
                self._keep(path, indexes, value)

    def _keep(self, path: Steps, indexes: tuple[int, ...], value: Any) -> None:
        """Keep what the standard does not know; it is refused, or tolerated, as in documents of the other one."""
        if self.plan.keeps_unknown:
            self.found.put(path, arrays_of(path), indexes, value)

    def _translate_container(self, value: Any, path: Steps, indexes: tuple[int, ...]) -> None:
        is_array = (*path, ALL_ITEMS) in self.plan.containers
        if isinstance(value, dict) and not is_array:
            self.translate_object(value, path, indexes)
        elif isinstance(value, list) and is_array and all(isinstance(item, dict) for item in value):
            for index, item in enumerate(value):
                self.translate_object(item, (*path, ALL_ITEMS), (*indexes, index))
        else:
            self._keep(path, indexes, value)

    def _carry_out(self, action: Move | Lost | Elsewhere, path: Steps, indexes: tuple[int, ...], value: Any) -> None:
        match action:
            case Lost():
                if value is not None and self.count is not None:
                    self.count.count_lost(action.path, action.reason, len(value) if isinstance(value, list) else 1)
            case Move(to, origins, reference):
                of_target = (
                    self.step.values.mapped(value) if reference is None else self.step.reference(reference, value)
                )
                if not self.found.put(to, origins, indexes, of_target) and self.count is not None:
                    self.count.count_lost(text_of(path), _ONE_IS_KEPT)


def _parts(body: dict[str, Any], each: Steps | None) -> Iterable[dict[str, Any]]:
    """The body, once for each item of the array with this item alone."""
    if each is None:
        return [body]
    items = value_at(body, each)
    if not isinstance(items, list):
        return []
    return ({**body, each[0]: [item]} for item in items)


def _has_more_than_its_key(resource: Resource, body: Mapping[str, Any]) -> bool:
    return not body.keys() <= {path.steps[0] for path in resource.identity}


_BUNDLED = Path(__file__).with_name("bundled")
_TO = ".."


def mapping_named(named: str, served: Surface) -> Translator:
    """A translator to the served standard.

    Raises UnknownMapping, LeadsElsewhere, InvalidMapping, or OSError.
    """
    files = [read(path) for path in _paths(named)]
    version = served.core_project.version
    to = files[-1][0].to
    if not _is_version(to, version):
        raise LeadsElsewhere(to, version)
    surfaces = [*(_surface(file.from_) for file, _ in files), served]
    steps = [
        Step(f"{file.from_}{_TO}{file.to}", compile_plans(file, source, before, after), _values_of(file))
        for (file, source), (before, after) in zip(files, pairwise(surfaces), strict=True)
    ]
    return Translator(surfaces[0], served, steps)


def _values_of(file: MappingFile) -> DescriptorValues:
    return DescriptorValues(file.namespaces, file.values)


def _paths(named: str) -> list[Path]:
    """The files of a chain of bundled ones, else the file itself."""
    bundled = {tuple(path.stem.split(_TO)): path for path in sorted(_BUNDLED.glob("*.toml"))}
    start, is_name, end = named.partition(_TO)
    found: list[Path] = []
    while is_name and start != end:
        step = next((pair for pair in bundled if pair[0] == start), None)
        if step is None:
            break
        found.append(bundled[step])
        start = step[1]
    if found and start == end:
        return found
    path = Path(named)
    if not path.is_file():
        raise UnknownMapping(named, [_TO.join(pair) for pair in bundled])
    return [path]


def _surface(standard: str) -> Surface:
    return compilation_of([source_path(standard)], api_settings.CACHE_DIR).surface


def _is_version(standard: str, version: str) -> bool:
    """Return whether 5.2.0 is the version of 5.2."""
    return version == standard or version.startswith(f"{standard}.")
