"""The members of documents of a resource, each value with its path, as people choose them for columns."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from edfi_api.model.surface.naming import EXTENSIONS
from edfi_api.model.surface.resource import ALL_ITEMS, Resource, ResourceName

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
# Arrays in arrays are offered as often as this; any index can be written.
_ITEMS = 2


@dataclass(frozen=True, slots=True)
class Member:
    """A value of a body: its path, `addresses[0].city`; in words; its JSON type and format; the descriptor whose URI it
    is, if it is one."""

    path: str
    words: str
    type: str
    format: str
    is_identity: bool
    is_required: bool
    descriptor: ResourceName | None
    description: str


class Members:
    """The members of documents of one resource."""

    def __init__(self, resource: Resource) -> None:
        self.resource = resource
        self._descriptors = {each.path.steps: each.target for each in resource.descriptors}
        self._identity = {each.steps for each in resource.identity}
        self._by_steps: dict[tuple[str, ...], Member] = {}
        found = []
        for steps, member in self._below(resource.json_schema, "", (), is_required=True):
            self._by_steps.setdefault(steps, member)
            found.append(member)
        # Members of the identity come first, then required ones.
        self.all = sorted(found, key=lambda each: (not each.is_identity, not each.is_required))

    def at(self, steps: Iterable[str | int]) -> Member | None:
        """The member at these steps, whatever the indexes are."""
        return self._by_steps.get(tuple(ALL_ITEMS if isinstance(step, int) else step for step in steps))

    def _below(
        self, schema: dict[str, Any], path: str, steps: tuple[str, ...], *, is_required: bool
    ) -> Iterator[tuple[tuple[str, ...], Member]]:
        match schema.get("type"):
            case "object":
                required = schema.get("required", ())
                for name, member in schema.get("properties", {}).items():
                    needed = is_required and name in required
                    yield from self._below(
                        member, f"{path}.{name}" if path else name, (*steps, name), is_required=needed
                    )
            case "array":
                for index in range(_ITEMS):
                    needed = is_required and index == 0
                    item = (*steps, ALL_ITEMS)
                    yield from self._below(schema["items"], f"{path}[{index}]", item, is_required=needed)
            case kind:
                yield (
                    steps,
                    Member(
                        path=path,
                        words=_in_words(path),
                        type=str(kind),
                        format=str(schema.get("format", "")),
                        is_identity=steps in self._identity,
                        is_required=is_required,
                        descriptor=self._descriptors.get(steps),
                        description=str(schema.get("description", "")),
                    ),
                )


def in_words(name: str) -> str:
    """`student unique id` for `studentUniqueId`."""
    return " ".join(_WORD.findall(name)).lower()


def _in_words(path: str) -> str:
    """`address 1 city` for `addresses[0].city`, without the words that all references and descriptors have."""
    words = []
    for name, index in re.findall(r"([^.\[\]]+)|\[(\d+)\]", path):
        if index:
            words.append(str(int(index) + 1))
        elif name != EXTENSIONS:
            words.append(in_words(name.removesuffix("Reference").removesuffix("Descriptor") or name))
    return " ".join(words)
