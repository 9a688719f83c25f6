"""The segments of an address that name a data store, before the fixed word that the rest begins with."""

from collections.abc import Collection
from dataclasses import dataclass

# The first segments of the paths that may follow a context; that of the data standard's version is added.
FIXED = frozenset(
    {
        "data", "metadata", "oauth", "changequeries", "relations", "batch", "bulk", "validation", "history",
        "submissions",
    }
)  # fmt: skip
# The first segments of paths without a context; the path of the admin is added.
OUTSIDE = frozenset(
    {"health", "metrics", "docs", "static", "management", "connect", "v2", "v3", ".well-known", "favicon.ico"}
)


@dataclass(frozen=True, slots=True)
class AddressForm:
    """How addresses are read: at most `most` segments come before one of the `fixed` ones; `outside` have none.
    All words are case-folded."""

    most: int
    fixed: Collection[str]
    outside: Collection[str]

    def split(self, path: str) -> tuple[tuple[str, ...], str]:
        """The segments of the context, as they are written, and the path that follows them.

        A path of so few segments that all can belong to the context is that of the root. One with too many has no
        context, so that it has no route either.
        """
        parts = path.removeprefix("/").split("/", self.most + 1)
        first = parts[0].casefold()
        if not first or first in self.fixed or first in self.outside:
            return (), path
        for number, part in enumerate(parts):
            if part.casefold() in self.fixed:
                return tuple(parts[:number]), "/" + "/".join(parts[number:])
        segments = parts if parts[-1] else parts[:-1]
        return (tuple(segments), "/") if len(segments) <= self.most else ((), path)


def has_encoded_separator(path: str, number: int) -> bool:
    """Whether one of the first segments of a path that is not decoded yet contains a slash, which decoding would take
    for the end of the segment: a proxy that decides by segments would not see the same ones."""
    return any("%2f" in segment.lower() for segment in path.removeprefix("/").split("/", number)[:number])
