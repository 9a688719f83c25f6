"""What stops an import as a whole."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass
class SourceUnusable(Exception):
    """The source cannot be reached or read; `reason` is PostgreSQL's, without the password."""

    reason: str


@dataclass
class DoesNotFit(Exception):
    """The served model has tables or columns that the source does not have.

    `extensions` are the names of served projects of which it has nothing; `standard` is another bundled data standard
    whose tables it has, "" if there is none.
    """

    missing: Sequence[str]
    extensions: Sequence[str] = ()
    standard: str = ""


@dataclass
class NoEarlierPass(Exception):
    """There is no finished pass whose changes a later one could read."""


class AlreadyImporting(Exception):
    """Another import into the same database is running."""
