"""Folders of files → rules.

`NAME.sql` begins with a comment that has the members of the rule as TOML; the rest is one query. `NAME.py` has
functions that are marked by the decorator `rule`. `rules.toml` has members that all rules of its folder share.
"""

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from edfi_api.common.conf import api_settings
from edfi_api.common.rule_files import (
    NOT_EMPTY,
    SHARED,
    NotToml,
    Standards,
    marked_functions,
    problems_of_members,
    shared_members,
)
from edfi_api.features.validation.rule import (
    FIXED_TYPES,
    PARAMETER_TYPES,
    SCOPE,
    Find,
    Incremental,
    Parameter,
    Problem,
    Rule,
    Scope,
    Severity,
)

BUNDLED = Path(__file__).with_name("bundled")

_MARK = "validation_rule"
_HEAD = re.compile(r"\A\s*/\*(.*?)\*/", re.DOTALL)
_LINE_OF_TOML = re.compile(r" \(at line (\d+), column \d+\)|\(at end of document\)")

_Name = Annotated[str, Meta(min_length=1, max_length=100, description=NOT_EMPTY)]
_Address = Annotated[str, Meta(min_length=1, max_length=255, description=NOT_EMPTY)]
_Line = Annotated[str, Meta(min_length=1, max_length=1024, description=NOT_EMPTY)]
_Description = Annotated[str, Meta(min_length=1, max_length=4000, description=NOT_EMPTY)]
_Flag = Annotated[bool, Meta(description="true or false")]
_Rows = Annotated[int, Meta(ge=1, le=10_000_000, description="a number from 1 to 10000000")]
_Seconds = Annotated[int, Meta(ge=1, le=86_400, description="a number from 1 to 86400")]
_Severity = Annotated[Severity, Meta(description=f"one of {', '.join(Severity)}")]
_Over = Annotated[Literal["documents", "views"], Meta(description="one of documents, views")]
_Parameters = Annotated[dict[str, Any], Meta(description="a table")]


@dataclass(frozen=True, slots=True)
class RuleSet:
    """The rules of some files, in the order of their names, and everything that is wrong with these files."""

    rules: tuple[Rule, ...]
    problems: tuple[Problem, ...]


def rule(**members: Any) -> Callable[[Find], Find]:
    """Mark a function as a rule; the members are those of a file of SQL, and `source` may be in `rules.toml`.

    The function takes a `RuleContext` and returns or yields instances of `Violation`.
    """

    def mark(function: Find) -> Find:
        setattr(function, _MARK, members)
        return function

    return mark


def configured_rules(paths: Iterable[Path] = ()) -> RuleSet:
    """The rules of these files and folders; without any, those of the settings and the bundled ones."""
    given = list(paths)
    if not given:
        given = [*([BUNDLED] if api_settings.BUNDLED_RULES else []), *map(Path, api_settings.RULES)]
    return read_rules(given)


def read_rules(paths: Iterable[Path]) -> RuleSet:
    """The rules of these files and folders."""
    rules: list[Rule] = []
    problems: list[Problem] = []
    for each in (file for path in paths for file in _files(path, problems)):
        found = _python_rules(each) if each.suffix == ".py" else _sql_rule(each)
        for one in found:
            (problems if isinstance(one, Problem) else rules).append(one)  # type: ignore[arg-type]
    first: dict[str, Rule] = {}
    for one in rules:
        if (other := first.setdefault(one.name, one)) is not one:
            problems.append(Problem(one.path, one.line, f"{other.path} has the identifier {one.identifier!r} already"))
    return RuleSet(tuple(first.values()), tuple(sorted(problems)))


def _files(path: Path, problems: list[Problem]) -> list[Path]:
    if path.is_dir():
        return sorted(
            file
            for file in path.rglob("*")
            if file.suffix in (".sql", ".py") and file.name != "__init__.py" and "__pycache__" not in file.parts
        )
    if path.is_file() and path.suffix in (".sql", ".py"):
        return [path]
    problems.append(Problem(path, 1, "there is no such folder, or file that ends with .sql or .py"))
    return []


def _sql_rule(path: Path) -> Iterator[Rule | Problem]:
    try:
        content = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        yield Problem(path, 1, f"cannot be read: {type(error).__name__}")
        return
    head = _HEAD.match(content)
    if head is None:
        yield Problem(path, 1, "does not begin with a comment /* … */ that has the members of the rule")
        return
    first = content[: head.start(1)].count("\n") + 1
    try:
        members = tomllib.loads(head.group(1))
    except tomllib.TOMLDecodeError as error:
        at = re.search(r"at line (\d+)", str(error))
        line = first - 1 + int(at.group(1)) if at else content[: head.end()].count("\n") + 1
        yield Problem(path, line, f"not TOML: {_LINE_OF_TOML.sub('', str(error)).strip()}")
        return
    query = content[head.end() :]
    line = content[: head.end()].count("\n") + 1
    yield from _made(path, first, members, text=query.strip(), start=line)


def _python_rules(path: Path) -> Iterator[Rule | Problem]:
    try:
        source = path.read_text(encoding="utf-8")
        module = ModuleType(f"{path.stem} of {path.parent}")
        module.__file__ = str(path)
        exec(compile(source, path, "exec"), vars(module))  # noqa: S102  The operator's code, as change handlers are.
    except SyntaxError as error:
        yield Problem(path, error.lineno or 1, f"not Python: {error.msg}")
        return
    except (Exception, SystemExit) as error:
        yield Problem(path, _line_in(path, error), f"cannot be imported: {type(error).__name__}: {error}")
        return
    functions = marked_functions(module, _MARK)
    if not functions:
        yield Problem(path, 1, "has no function that is marked by @rule")
    for function in functions:
        line = function.__code__.co_firstlineno
        yield from _made(path, line, getattr(function, _MARK), text=source, find=function)


def _made(
    path: Path, line: int, members: Mapping[str, Any], *, text: str, find: Find | None = None, start: int = 0
) -> Iterator[Rule | Problem]:
    shared: dict[str, Any] = {}
    try:
        shared = shared_members(path.parent)
    except NotToml as error:
        yield Problem(path.parent / SHARED, 1, str(error))
    try:
        made = rule_of({**shared, **members}, path=path, line=line, text=text, find=find)
    except InvalidRule as error:
        yield from (Problem(path, line, problem) for problem in error.problems)
        return
    if find is None and not text:
        yield Problem(path, start, "has no query")
        return
    yield made


def _line_in(path: Path, error: BaseException) -> int:
    lines = []
    step = error.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename == str(path):
            lines.append(step.tb_lineno)
        step = step.tb_next
    return lines[-1] if lines else 1


class _Members(msgspec.Struct, kw_only=True):
    """The members of a rule. Those of `parameters` and `incremental` are read in a second step."""

    identifier: _Name
    source: _Name
    version: _Name
    short: _Line
    severity: _Severity
    category: _Line
    resource: _Address
    description: _Description = ""
    help_url: _Address = ""
    external_id: _Name = ""
    standards: Standards = ()
    over: _Over = "documents"
    active: _Flag = True
    parameters: _Parameters = {}
    incremental: Any = None
    row_limit: _Rows = 100_000
    seconds: _Seconds = 300
    publish_logic: _Flag = False


_RESERVED = (*FIXED_TYPES, SCOPE, "row_limit")
_PYTHON_TYPES: dict[str, type | tuple[type, ...]] = {
    "text": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "date": date,
    "texts": list,
}


class InvalidRule(Exception):
    """All problems of the members of a rule, as texts."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


def rule_of(members: Mapping[str, Any], **found: Any) -> Rule:
    """The rule with these members; `found` are path, line, text and function. Raises InvalidRule."""
    problems = [
        *problems_of_members(members, _Members),
        *_parameters(members.get("parameters")),
        *(_incremental(members["incremental"]) if "incremental" in members else ()),
    ]
    if problems:
        raise InvalidRule(problems)
    given = msgspec.structs.asdict(msgspec.convert(members, _Members))
    given["parameters"] = {name: Parameter(each["type"], each["default"]) for name, each in given["parameters"].items()}
    if each := given["incremental"]:
        given["incremental"] = Incremental(Scope(each["scope"]), tuple(each["watch"]))
    return Rule(**given, **found)


def is_value_of(type_: str, value: Any) -> bool:
    """Return whether a value of Python or TOML is one of a type of parameters."""
    if isinstance(value, bool) and type_ != "boolean":
        return False
    if type_ == "texts":
        return isinstance(value, list) and all(isinstance(each, str) for each in value)
    return isinstance(value, _PYTHON_TYPES[type_])


def _parameters(given: Any) -> Iterator[str]:
    for name, each in given.items() if isinstance(given, Mapping) else ():
        if not name.isidentifier() or name in _RESERVED:
            yield f"{name!r} cannot be the name of a parameter"
        if not isinstance(each, Mapping) or each.keys() != {"type", "default"}:
            yield f"the parameter {name!r} has to have 'type' and 'default'"
        elif each["type"] not in PARAMETER_TYPES:
            yield f"the type of the parameter {name!r} has to be one of {', '.join(PARAMETER_TYPES)}"
        elif not is_value_of(each["type"], each["default"]):
            yield f"the default of the parameter {name!r} is not of its type {each['type']}"


def _incremental(given: Any) -> Iterator[str]:
    if not isinstance(given, Mapping) or given.keys() != {"scope", "watch"}:
        yield "'incremental' has to have 'scope' and 'watch'"
        return
    if given["scope"] not in list(Scope):
        yield f"the scope has to be one of {', '.join(Scope)}"
    watched = given["watch"]
    if not isinstance(watched, list | tuple) or not watched or not all(isinstance(each, str) for each in watched):
        yield "'watch' has to be a list of resources, such as [\"ed-fi/students\"]"
