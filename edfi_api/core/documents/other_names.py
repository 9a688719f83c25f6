"""Bodies and paths under the names that clients know, made from those under which documents are stored."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from edfi_api.model.surface.resource import ALL_ITEMS, OtherName

_STEP = re.compile(r"[^.\[\]]+|\[[^\]]*\]")


@dataclass(slots=True)
class OtherNames:
    """The other names at one place of a body, and those below it by the names of its own members."""

    own: dict[str, str] = field(default_factory=dict)
    below: dict[str, "OtherNames"] = field(default_factory=dict)

    @classmethod
    def of(cls, names: Iterable[OtherName]) -> "OtherNames":
        """The names of a body, by their paths. Items of arrays are below the step of all items."""
        root = cls()
        for other in names:
            place = root
            *around, last = other.path.steps
            for step in around:
                place = place.below.setdefault(step, cls())
            place.own[last] = other.name
        return root

    @property
    def is_any(self) -> bool:
        """Whether there are other names."""
        return bool(self.own or self.below)

    def at(self, step: str) -> "OtherNames":
        """Return the names below a member, or in the items of an array."""
        return self.below.get(step, NO_OTHER_NAMES)

    def stored(self, name: str) -> str:
        """The name of the member that has this other name; the name itself if none has."""
        return next((own for own, other in self.own.items() if other == name), name)

    def rename(self, value: Any) -> None:
        """Give the members of a body their other names, in place and in their order."""
        if isinstance(value, list):
            for item in value:
                self.at(ALL_ITEMS).rename(item)
        if not isinstance(value, dict):
            return
        for name, below in self.below.items():
            if name in value:
                below.rename(value[name])
        if any(name in value for name in self.own):
            members = [(self.own.get(name, name), member) for name, member in value.items()]
            value.clear()
            value.update(members)

    def path(self, path: str) -> str:
        """The path `$.addresses[0].city` under the other names."""
        return "$" + "".join(self._steps(path))

    def _steps(self, path: str) -> Iterator[str]:
        place: OtherNames = self
        for step in _STEP.findall(path.removeprefix("$")):
            if step.startswith("["):
                yield step
                place = place.at(ALL_ITEMS)
            else:
                yield f".{place.own.get(step, step)}"
                place = place.at(step)


NO_OTHER_NAMES = OtherNames()
