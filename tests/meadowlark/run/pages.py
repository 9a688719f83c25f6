"""Pages of the documentation as shell sessions: their commands in order, with the expected output.

A block of `sh` is a step. A following block of `json`, `http` or `text` shows its output: `json` all of it,
`http` some lines of a response, `text` some lines of any output. Values that differ between runs (ids, versions,
times, tokens) are compared by their form only.
"""

import json
import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_ANSWERS = ("json", "http", "text")
_END_OF_STEP = "--- end of step ---"
_VARYING = (
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "ID"),
    (re.compile(r"\b[0-9a-f]{32}\b"), "ID"),
    (re.compile(r"\b(\d+|v[0-9a-f]+)-l(\.[0-9a-f]{8})?\b"), "ETAG"),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"), "TIME"),
    (re.compile(r"(?<=next-page-token: )\S+"), "TOKEN"),
)
_VARYING_MEMBERS = {"access_token", "changeVersion", "newestChangeVersion", "pageTokens"}


@dataclass(frozen=True)
class Step:
    """Commands of a page with their expected output; `line` is their position in the page."""

    line: int
    commands: str
    language: str = ""
    answer: str = ""

    def disagreement(self, output: str) -> str | None:
        """The expected text that is missing in the output; None if they agree."""
        if self.language == "json":
            shown, printed = _comparable(json.loads(self.answer)), _comparable(json.loads(output))
            return None if shown == printed else f"shown {shown}, printed {printed}"
        printed_lines = _without_varying(output).splitlines()
        missing = [line for line in _without_varying(self.answer).splitlines() if line not in printed_lines]
        return f"not printed: {missing}, but {output}" if missing else None


def steps(text: str) -> list[Step]:
    """The steps of a page, or of a part of one."""
    found: list[Step] = []
    for block in _BLOCK.finditer(text):
        language, content = block.groups()
        if language == "sh":
            found.append(Step(text.count("\n", 0, block.start()) + 1, content))
        elif language in _ANSWERS and found and not found[-1].language:
            found[-1] = Step(found[-1].line, found[-1].commands, language, content)
    return found


def run(page: list[Step], environment: Mapping[str, str], folder: Path, prelude: str = "") -> list[str]:
    """The output of each step, in one shell that stops at the first failing command."""
    script = "\n".join([prelude, *(f"{step.commands}\nprintf '\\n%s\\n' '{_END_OF_STEP}'" for step in page)])
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    outputs = done.stdout.split(f"\n{_END_OF_STEP}\n")
    assert done.returncode == 0, f"line {page[len(outputs) - 1].line}: {outputs[-1]}{done.stderr}"
    return outputs[:-1]


def disagreements(page: list[Step], outputs: list[str]) -> list[str]:
    """The disagreements of all steps with expected output, with their lines in the page."""
    compared = ((step, step.disagreement(output)) for step, output in zip(page, outputs, strict=True) if step.language)
    return [f"line {step.line}: {what}" for step, what in compared if what]


def environment_of_a_newcomer() -> dict[str, str]:
    """Return the environment without the variables that the tests, or make, have set."""
    removed = ("DATABASE_URL", "MEADOWLARK_", "MAKE", "MFLAGS", "DJANGO_")
    return {name: value for name, value in os.environ.items() if not name.startswith(removed)}


def _comparable(value: Any) -> Any:
    match value:
        case dict():
            return {
                name: "VARYING" if name in _VARYING_MEMBERS else _comparable(member) for name, member in value.items()
            }
        case list():
            return [_comparable(item) for item in value]
        case str():
            return _without_varying(value)
    return value


def _without_varying(text: str) -> str:
    for form, name in _VARYING:
        text = form.sub(name, text)
    return text
