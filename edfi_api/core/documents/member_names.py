"""Members under other names than those of the schema: in another case, or those that clients know."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from edfi_api.core.documents import violations
from edfi_api.core.documents.coercion import added_members
from edfi_api.core.documents.violations import MOST_REPORTED, Reason, Tolerated, Violation
from edfi_api.model.surface.naming import EXTENSIONS, bare_key
from edfi_api.model.surface.resource import ALL_ITEMS, OtherName

_STEP = re.compile(r"[^.\[\]]+|\[[^\]]*\]")


@dataclass(slots=True)
class OtherNames:
    """Other names for members at one place of a body, and those below it by the names of its own members."""

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
        return self.below.get(step, _NO_OTHER_NAMES)

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


_NO_OTHER_NAMES = OtherNames()


# Runs only for bodies in which coercion has met a member that the schema does not have.

_ID = "id"
_LONGEST_NAME_REPORTED = 100

Schema = dict[str, Any]


@dataclass(slots=True)
class Renaming:
    """What has been found in one body: members that are `read` under their canonical names, by the paths under which
    they were sent, and those that are refused. With `any_case` all are read, otherwise only the keys of `_ext`."""

    any_case: bool
    read: list[Tolerated] = field(default_factory=list)
    refused: list[Violation] = field(default_factory=list)

    def note(self, path: str, name: str, *, is_read: bool) -> None:
        if is_read:
            if len(self.read) <= MOST_REPORTED:
                self.read.append(Tolerated(path, Reason.OTHER_CASE))
        else:
            self.refuse(violations.other_case(path, name))

    def refuse(self, violation: Violation) -> None:
        if len(self.refused) <= MOST_REPORTED:
            self.refused.append(violation)


class MemberNames:
    """The names at one place of a schema, and below it; children are made at first use.

    `known` is the schema of which `schema` is the part that a client may write: members that only `known` has are
    renamed, too, but never refused, since they are dropped whatever they hold. `served` are the names that clients know
    in place of those of the schema; both are read.
    """

    def __init__(
        self, schema: Schema, known: Schema | None = None, name: str | None = None, served: OtherNames = _NO_OTHER_NAMES
    ) -> None:
        self._schema = schema
        self._known = schema if known is None else known
        self._name = name
        self._served = served
        self._children: dict[str, MemberNames] = {}

    def renamed(self, value: Any, renaming: Renaming, path: str = "$") -> Any:
        """The value with its members under their canonical names. Of two spellings the first is kept, and the other
        refused; members without a value count as absent."""
        if isinstance(value, dict) and self._known.get("type") == "object":
            return self._object(value, renaming, path)
        if isinstance(value, list) and self._known.get("type") == "array":
            return [self._items.renamed(item, renaming, f"{path}[{index}]") for index, item in enumerate(value)]
        return value

    def _object(self, value: dict[str, Any], renaming: Renaming, path: str) -> dict[str, Any]:
        renamed: dict[str, Any] = {}
        as_sent: dict[str, str] = {}
        for sent, child in value.items():
            name = sent if sent in self._reported else self._canonical.get(self._bare(sent), sent)
            if child is None:
                if name == sent:
                    renamed.setdefault(name, None)
                continue
            place = f"{path}.{sent[:_LONGEST_NAME_REPORTED]}"
            if name in as_sent:
                renaming.refuse(violations.spelt_twice(place, as_sent[name]))
                continue
            if name != sent != self._served.own.get(name) and name in self._reported:
                spelt = self._served.own.get(name, name)
                renaming.note(place, spelt, is_read=renaming.any_case or self._name == EXTENSIONS)
            as_sent[name] = sent[:_LONGEST_NAME_REPORTED]
            renamed[name] = self._child(name).renamed(child, renaming, place)
        return renamed

    @cached_property
    def _canonical(self) -> dict[str, str]:
        """Map the name in lower case, of keys of `_ext` without hyphens, to the name of the model."""
        known = {self._bare(name): name for name in (*added_members(self._name), *self._known.get("properties", {}))}
        return {self._bare(served): name for name, served in self._served.own.items()} | known

    def _bare(self, name: str) -> str:
        return bare_key(name) if self._name == EXTENSIONS else name.lower()

    @cached_property
    def _reported(self) -> frozenset[str]:
        """Members with a value that counts: those of the schema, and the id of a document."""
        return frozenset([*self._schema.get("properties", {}), *({_ID} & added_members(self._name))])

    @cached_property
    def _items(self) -> "MemberNames":
        known: Schema = self._known["items"]
        return MemberNames(self._schema.get("items", known), known, "", self._served.at(ALL_ITEMS))

    def _child(self, name: str) -> "MemberNames":
        if name not in self._children:
            known = self._known.get("properties", {}).get(name)
            if known is None:
                return _NOTHING
            visible = self._schema.get("properties", {}).get(name, {})
            self._children[name] = MemberNames(visible, known, name, self._served.at(name))
        return self._children[name]


_NOTHING = MemberNames({})
