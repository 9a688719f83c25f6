"""Files of TOML → rules.

A file has tables `[[rule]]`; members outside of them, and those of `rules.toml` in its folder, are shared by its rules.
All problems are reported, with their places.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import msgspec

from edfi_api.common.rule_files import SHARED, NotToml, Standards, Text, problems_of_members, read_toml, shared_members
from edfi_api.core.documents.paths import concrete
from edfi_api.core.writes.rules.conditions import Condition, problems_of, problems_of_path
from edfi_api.core.writes.rules.ruled_write import Finding, FindingSeverity, RuledWrite, WriteRule
from edfi_api.model.surface.resource import JsonPath

_TABLE = re.compile(r"^\s*\[\[\s*rule\s*\]\]", re.MULTILINE)
_When = Annotated[list[dict[str, Any]], msgspec.Meta(description="a list of tables with 'member' and 'condition'")]
_Severity = Annotated[FindingSeverity, msgspec.Meta(description=f"one of {', '.join(FindingSeverity)}")]


class _Table(msgspec.Struct):
    """The members of a rule."""

    identifier: Text
    resource: Text
    member: Any
    condition: Any
    text: Text
    source: Text = ""
    description: Text = ""
    severity: _Severity = FindingSeverity.REFUSE
    when: _When = []
    standards: Standards = ()


@dataclass(frozen=True, slots=True)
class DeclaredRule:
    """What a table of TOML says: `text` is found at each value of a member for which the condition does not hold, in
    documents for which all conditions of `when` hold."""

    condition: Condition
    when: tuple[Condition, ...]
    text: str
    severity: FindingSeverity

    def find(self, write: RuledWrite) -> Iterator[Finding]:
        if all(each.holds(write) for each in self.when):
            steps = self.condition.path.steps
            for indexes in dict.fromkeys(self.condition.failures(write)):
                yield Finding(concrete(steps, indexes), self.text, self.severity)

    @property
    def conditions(self) -> tuple[Condition, ...]:
        return (self.condition, *self.when)


def declared_rules(path: Path) -> Iterator[WriteRule | str]:
    """The rules of a file, or of all files of a folder, and what is wrong with them."""
    if not path.exists():
        yield f"{path}: there is no such file or folder"
    for file in declaring_files(path):
        yield from _rules_of(file)


def declaring_files(path: Path) -> list[Path]:
    """The files of a folder that declare rules; a file of TOML itself."""
    if path.is_dir():
        return sorted(file for file in path.rglob("*.toml") if file.name != SHARED)
    return [path] if path.is_file() and path.suffix == ".toml" else []


def _rules_of(path: Path) -> Iterator[WriteRule | str]:
    try:
        shared = shared_members(path.parent)
        members = read_toml(path)
    except NotToml as error:
        yield f"{path}: {error}"
        return
    given = members.pop("rule", [])
    if not isinstance(given, list) or not given:
        yield f"{path}: has no table [[rule]]"
        return
    text = path.read_text(encoding="utf-8")
    # tomllib does not tell the places of tables.
    lines = [text[: found.end()].count("\n") + 1 for found in _TABLE.finditer(text)]
    for number, each in enumerate(given):
        place = f"{path}:{lines[number]}" if len(lines) == len(given) else str(path)
        yield from _rule(place, {**shared, **members, **each})


def _rule(place: str, members: Mapping[str, Any]) -> Iterator[WriteRule | str]:
    if found := [*problems_of_members(members, _Table), *_problems_of_conditions(members)]:
        yield from (f"{place}: {problem}" for problem in found)
        return
    table = msgspec.convert(members, _Table)
    when = tuple(Condition(JsonPath.parse(each["member"]), each["condition"]) for each in table.when)
    condition = Condition(JsonPath.parse(table.member), table.condition)
    declared = DeclaredRule(condition, when, table.text, table.severity)
    yield WriteRule(
        name=f"{table.source}/{table.identifier}" if table.source else table.identifier,
        resources=(table.resource,),
        find=declared.find,
        reads_document_only=all(each.reads_document_only for each in declared.conditions),
        source=place,
        text=table.text,
        standards=table.standards,
        declared=declared,
    )


def _problems_of_conditions(members: Mapping[str, Any]) -> Iterator[str]:
    if "member" in members and "condition" in members:
        yield from _problems_of_condition("", members)
    when = members.get("when", [])
    for number, each in enumerate(when if isinstance(when, list) else []):
        if not isinstance(each, Mapping) or each.keys() != {"member", "condition"}:
            yield f"when[{number}] has to have 'member' and 'condition'"
        else:
            yield from _problems_of_condition(f"when[{number}].", each)


def _problems_of_condition(within: str, given: Mapping[str, Any]) -> Iterator[str]:
    yield from problems_of_path(f"{within}member", given["member"])
    yield from problems_of(f"{within}condition", given["condition"])
