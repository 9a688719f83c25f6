"""What ends a load, whatever it reads."""

from dataclasses import dataclass
from pathlib import Path


@dataclass
class NoSuchPath(Exception):
    """A path in the command's arguments does not exist."""

    path: Path


@dataclass
class StoppedAtRefusal(Exception):
    """The first refusal ended the load, because the command runs with `--strict`."""

    refusal: str
