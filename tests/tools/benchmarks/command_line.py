"""Options that the programs of this package share, and the file that `--json` names."""

import json
from argparse import ArgumentParser
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any


def parser(name: str, text: str) -> ArgumentParser:
    """The parser of `python -m tests.tools.benchmarks.<name>`, described by the first line of its docstring."""
    found = ArgumentParser(prog=f"python -m tests.tools.benchmarks.{name}", description=text.partition("\n")[0])
    found.add_argument("--json", type=Path, help="write the result to this file too")
    return found


def parser_of_rounds(name: str, text: str, rounds: int, seconds: float) -> ArgumentParser:
    """The parser of a program that sends each of its requests in several rounds; the numbers are the defaults."""
    found = parser(name, text)
    found.add_argument("--rounds", type=int, default=rounds)
    found.add_argument("--seconds", type=float, default=seconds, help="how long each request is sent in a round")
    found.add_argument("--only", default="", metavar="TEXT", help="requests with this text in their names")
    return found


def write_json(file: Path | None, rows: Iterable[Mapping[str, Any]]) -> None:
    """Nothing without a file."""
    if file is not None:
        file.write_text(json.dumps(list(rows), indent=1))
