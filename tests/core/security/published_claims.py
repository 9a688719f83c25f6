"""The resource claims of the published `EdFi_Security` of an ODS/API 7.3, with their default strategies."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_FILE = Path(__file__).with_name("published_claims.tsv")


@dataclass(frozen=True)
class PublishedClaim:
    """`parent` is "" where there is none; `defaults` are its own strategies by action."""

    parent: str
    defaults: Mapping[str, tuple[str, ...]]


@cache
def published_claims() -> Mapping[str, PublishedClaim]:
    """Return the claims by name, without the beginning of the URI."""
    rows = [line.split("\t") for line in _FILE.read_text().splitlines()[1:]]
    return {name: PublishedClaim(parent, _defaults(defaults)) for name, parent, defaults in rows}


def in_effect(name: str) -> dict[str, tuple[str, ...]]:
    """The default strategies of a claim by action, its own or the nearest of an ancestor."""
    claim = published_claims()[name]
    return {**(in_effect(claim.parent) if claim.parent else {}), **claim.defaults}


def _defaults(text: str) -> dict[str, tuple[str, ...]]:
    pairs = (part.strip().split("=") for part in text.split(";") if part.strip())
    return {action: tuple(names.split("+")) for action, names in pairs}
