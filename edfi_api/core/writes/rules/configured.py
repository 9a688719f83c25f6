"""The rules of the setting WRITE_RULES, by resource, and everything that is wrong with them.

The setting has files and folders of TOML, modules, names of entry points of the group `meadowlark.write_rules`, and
`bundled:IDENTIFIER` for a rule that comes with Meadowlark.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType

from edfi_api.common.conf import api_settings
from edfi_api.common.rule_files import marked_functions
from edfi_api.core.served import current_surface
from edfi_api.core.writes.rules.conditions import Condition
from edfi_api.core.writes.rules.declared import DeclaredRule, declared_rules
from edfi_api.core.writes.rules.look_ups import LookedUpResources
from edfi_api.core.writes.rules.ruled_write import MARK, InvalidRules, MarkedRule, WriteRule
from edfi_api.model.surface.json_schema import find_schema
from edfi_api.model.surface.resource import JsonPath, Resource, ResourceName, Surface

BUNDLED = Path(__file__).with_name("bundled")
ENTRY_POINTS = "meadowlark.write_rules"
_BUNDLED = "bundled:"


@dataclass(frozen=True)
class RulesOfResource:
    """The rules of a resource: those that read the document only, and the others.

    `look_at_own`: the others may look up documents of the resource itself. `followed` are the steps of the references
    that they are known to follow.
    """

    resource: Resource
    document_only: tuple[WriteRule, ...]
    others: tuple[WriteRule, ...]
    resources: LookedUpResources

    @cached_property
    def look_at_own(self) -> bool:
        return any(self._may_look_at_own(rule) for rule in self.others)

    @cached_property
    def followed(self) -> frozenset[tuple[str, ...]]:
        declared = [rule.declared for rule in self.others if isinstance(rule.declared, DeclaredRule)]
        paths = (path for each in declared for condition in each.conditions for path, _ in condition.references)
        return frozenset(JsonPath.parse(path).steps for path in paths)

    def _may_look_at_own(self, rule: WriteRule) -> bool:
        if not isinstance(rule.declared, DeclaredRule):
            return True
        own, above = self.resource.name, self.resource.superclass
        names = {own, above.name} if above else {own}
        targets = {str(each.path): each.target for each in self.resource.references}
        followed = {targets[path] for each in rule.declared.conditions for path, _ in each.references}
        found = {self.resources[name].name for each in rule.declared.conditions for name, _, _ in each.queries}
        return not names.isdisjoint(followed | found)

    def only(self, names: Collection[str]) -> "RulesOfResource":
        """Return the rules with these names."""
        document_only = tuple(rule for rule in self.document_only if rule.name in names)
        others = tuple(rule for rule in self.others if rule.name in names)
        return replace(self, document_only=document_only, others=others)


@dataclass(frozen=True, slots=True)
class ConfiguredRules:
    """The rules of some settings, by resource; `left_out` are those for other standards, `problems` texts."""

    rules: tuple[WriteRule, ...]
    by_resource: Mapping[ResourceName, RulesOfResource]
    left_out: tuple[WriteRule, ...] = ()
    problems: tuple[str, ...] = ()


def rules_of(resource: Resource) -> RulesOfResource | None:
    """The configured rules of a resource; None if there are none. Raises InvalidRules."""
    names = api_settings.WRITE_RULES
    return valid_rules().by_resource.get(resource.name) if names else None


def valid_rules() -> ConfiguredRules:
    """Return the rules of the settings. Raises InvalidRules."""
    found = configured_rules()
    if found.problems:
        raise InvalidRules(list(found.problems))
    return found


def configured_rules() -> ConfiguredRules:
    """Return the rules of the settings, without what is wrong with them."""
    return rules_named(tuple(api_settings.WRITE_RULES))


@lru_cache(maxsize=4)
def rules_named(names: tuple[str, ...]) -> ConfiguredRules:
    """Return the rules that the setting would have with these names."""
    return _Reading(current_surface()).read(names)


@dataclass
class _Reading:
    """Collects rules for a surface, and problems."""

    surface: Surface
    rules: list[WriteRule] = field(default_factory=list)
    left_out: list[WriteRule] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def read(self, names: Iterable[str]) -> ConfiguredRules:
        resources = LookedUpResources(self.surface)
        named: dict[str, WriteRule] = {}
        for rule in (each for name in names for each in self._named(name)):
            if named.setdefault(rule.name, rule) is not rule:
                self.problems.append(f"{rule.source}: {named[rule.name].source} has the name {rule.name!r} already")
            elif rule.standards and self.surface.standards.isdisjoint(rule.standards):
                self.left_out.append(rule)
            elif found := list(_problems(rule, resources)):
                self.problems += found
            else:
                self.rules.append(rule)
        by_resource = {each.name: _rules_of(each, self.rules, resources) for each in self.surface.resources}
        return ConfiguredRules(
            tuple(self.rules),
            {name: each for name, each in by_resource.items() if each.document_only or each.others},
            tuple(self.left_out),
            tuple(self.problems),
        )

    def _named(self, name: str) -> Iterator[WriteRule]:
        if name.startswith(_BUNDLED):
            yield from self._bundled(name.removeprefix(_BUNDLED))
        elif name.endswith(".toml") or "/" in name:
            yield from self._declared(Path(name))
        elif module := self._module(name):
            functions = marked_functions(module, MARK)
            if not functions:
                self.problems.append(f"{name}: has no function that is marked by @on_write")
            for function in functions:
                marked: MarkedRule = getattr(function, MARK)
                yield WriteRule(
                    name=marked.name or f"{function.__module__}.{function.__qualname__}",
                    resources=marked.resources,
                    find=function,
                    reads_document_only=marked.reads_document_only,
                    source=f"{function.__code__.co_filename}:{function.__code__.co_firstlineno}",
                    text=(function.__doc__ or "").strip().partition("\n")[0],
                )

    def _declared(self, path: Path) -> Iterator[WriteRule]:
        for each in declared_rules(path):
            if isinstance(each, WriteRule):
                yield each
            else:
                self.problems.append(each)

    def _bundled(self, identifier: str) -> Iterator[WriteRule]:
        bundled = {each.name.rpartition("/")[2]: each for each in self._declared(BUNDLED)}
        if identifier in bundled:
            yield bundled[identifier]
        else:
            self.problems.append(f"bundled:{identifier}: there is no such rule; there are {', '.join(bundled)}")

    def _module(self, name: str) -> ModuleType | None:
        found = next(iter(entry_points(group=ENTRY_POINTS, name=name)), None)
        try:
            module = import_module(name) if found is None else found.load()
        except (Exception, SystemExit) as error:  # Whatever the module does, it is a problem of the rules.
            self.problems.append(f"{name}: cannot be imported: {type(error).__name__}: {error}")
            return None
        if not isinstance(module, ModuleType):
            self.problems.append(f"{name}: the entry point is no module")
            return None
        return module


def _rules_of(resource: Resource, rules: Iterable[WriteRule], resources: LookedUpResources) -> RulesOfResource:
    own = [rule for rule in rules if not rule.resources or any(resources[name] is resource for name in rule.resources)]
    return RulesOfResource(
        resource,
        tuple(rule for rule in own if rule.reads_document_only),
        tuple(rule for rule in own if not rule.reads_document_only),
        resources,
    )


def _problems(rule: WriteRule, resources: LookedUpResources) -> Iterator[str]:
    """The parts of a rule that do not fit the served standard."""
    for name in rule.resources:
        resource = resources.find(name)
        if resource is None:
            yield f"{rule.source}: the standard has no resource {name}; one reads like ed-fi/students"
        elif isinstance(rule.declared, DeclaredRule):
            for condition in rule.declared.conditions:
                yield from (f"{rule.source}: {each}" for each in _incompatibilities(condition, resource, resources))


def _incompatibilities(condition: Condition, resource: Resource, resources: LookedUpResources) -> Iterator[str]:
    for path in condition.paths:
        if not _has(resource, path):
            yield f"{resource.name.resource} has no member {path}"
    references = {str(reference.path): reference for reference in resource.references}
    for reference, member in condition.references:
        if reference not in references:
            yield f"{resource.name.resource} has no reference {reference}; there are {', '.join(references)}"
            continue
        target = resources.named(references[reference].target)
        if target is not None and not _has(target, JsonPath.parse(member)):
            yield f"{target.name.resource} has no member {member}"
    for name, fields, member in condition.queries:
        found = resources.find(name)
        if found is None:
            yield f"the standard has no resource {name}; one reads like ed-fi/students"
            continue
        known = {each.name.lower() for each in found.query_fields}
        for unknown in sorted(each for each in fields if each.partition("[")[0].lower() not in known):
            yield f"{name} has no query field {unknown}"
        if not _has(found, JsonPath.parse(member)):
            yield f"{found.name.resource} has no member {member}"


def _has(resource: Resource, path: JsonPath) -> bool:
    """Return whether documents of the resource may have a member."""
    return find_schema(resource.json_schema, path.steps) is not None
