"""Files of TOML → rules.

A file has tables `[[rule]]`; members outside of them, and those of `rules.toml` in its folder, are shared by its rules.
All problems are reported, with their places.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from edfi_api.core.documents.paths import concrete
from edfi_api.core.writes.rules.conditions import Condition, problems_of, problems_of_path
from edfi_api.core.writes.rules.ruled_write import Finding, FindingSeverity, RuledWrite, WriteRule
from edfi_api.model.surface.resource import JsonPath

SHARED = "rules.toml"

_REQUIRED = ("identifier", "resource", "member", "condition", "text")
_TEXTS = ("identifier", "source", "resource", "text", "description")
_MEMBERS = frozenset((*_REQUIRED, *_TEXTS, "severity", "when", "standards"))
_TABLE = re.compile(r"^\s*\[\[\s*rule\s*\]\]", re.MULTILINE)


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
        shared = _read(path.with_name(SHARED)) if path.with_name(SHARED).is_file() else {}
        members = _read(path)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        yield f"{path}: not TOML: {error}"
        return
    given = members.pop("rule", [])
    if not isinstance(given, list) or not given:
        yield f"{path}: has no table [[rule]]"
        return
    text = _text(path)
    # tomllib does not tell the places of tables.
    lines = [text[: found.end()].count("\n") + 1 for found in _TABLE.finditer(text)]
    for number, each in enumerate(given):
        place = f"{path}:{lines[number]}" if len(lines) == len(given) else str(path)
        yield from _rule(place, {**shared, **members, **each})


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _read(path: Path) -> dict[str, Any]:
    return tomllib.loads(_text(path))


def _rule(place: str, members: Mapping[str, Any]) -> Iterator[WriteRule | str]:
    if found := list(_problems(members)):
        yield from (f"{place}: {problem}" for problem in found)
        return
    when = tuple(Condition(JsonPath.parse(each["member"]), each["condition"]) for each in members.get("when", ()))
    condition = Condition(JsonPath.parse(members["member"]), members["condition"])
    severity = FindingSeverity(members.get("severity", FindingSeverity.REFUSE))
    declared = DeclaredRule(condition, when, members["text"], severity)
    source = f"{members['source']}/" if "source" in members else ""
    yield WriteRule(
        name=f"{source}{members['identifier']}",
        resources=(members["resource"],),
        find=declared.find,
        reads_document_only=all(each.reads_document_only for each in declared.conditions),
        source=place,
        text=members["text"],
        standards=tuple(members.get("standards", ())),
        declared=declared,
    )


def _problems(members: Mapping[str, Any]) -> Iterator[str]:
    for name in sorted(members.keys() - _MEMBERS):
        yield f"unknown member {name!r}"
    for name in _REQUIRED:
        if name not in members:
            yield f"{name!r} is missing"
    for name in _TEXTS:
        if not isinstance(members.get(name, "-"), str) or not members.get(name, "-"):
            yield f"{name!r} has to be a text that is not empty"
    if members.get("severity", FindingSeverity.REFUSE) not in list(FindingSeverity):
        yield f"'severity' has to be one of {', '.join(FindingSeverity)}"
    standards = members.get("standards", ["-"])
    if not isinstance(standards, list) or not all(isinstance(each, str) for each in standards):
        yield "'standards' has to be a list of versions, such as [\"5.2\"]"
    if "member" in members and "condition" in members:
        yield from _problems_of_condition("", members)
    when = members.get("when", [])
    if not isinstance(when, list) or not all(isinstance(each, Mapping) for each in when):
        yield "'when' has to be a list of tables with 'member' and 'condition'"
        return
    for number, each in enumerate(when):
        if each.keys() != {"member", "condition"}:
            yield f"when[{number}] has to have 'member' and 'condition'"
        else:
            yield from _problems_of_condition(f"when[{number}].", each)


def _problems_of_condition(within: str, given: Mapping[str, Any]) -> Iterator[str]:
    yield from problems_of_path(f"{within}member", given["member"])
    yield from problems_of(f"{within}condition", given["condition"])
