"""Sent bodies of one schema → coerced bodies, and what was tolerated in them or cannot be."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

from edfi_api.core.documents import violations
from edfi_api.core.documents.coercion import Coercion, added_members, compile_coercion, reason_of
from edfi_api.core.documents.member_names import MemberNames, OtherNames, Renaming
from edfi_api.core.documents.violations import Leniency, Reason, Tolerated, Violation, as_many_as_reported
from edfi_api.model.surface.resource import OtherName

_LONGEST_NAME_REPORTED = 100


_VIOLATIONS = {
    Reason.UNKNOWN_MEMBER: violations.unknown_member,
    Reason.OTHER_CASE: violations.read_in_other_case,
    Reason.AMBIGUOUS_DATE: violations.ambiguous_date,
    Reason.OTHER_FORM: violations.other_form,
}


def tolerated(body: Any, schema: dict[str, Any], known: dict[str, Any]) -> Iterator[Tolerated]:
    """All that coercion has tolerated in a body as it was sent, lazily and in its order: unknown members, and values in
    other forms. Names longer than 100 characters are cut.

    Members that the schema does not have, but `known`, a wider one, are left out with all that is in them.
    """
    return _in_value(body, schema, known, "$", None)


def _in_value(
    value: Any, schema: dict[str, Any], known: dict[str, Any], path: str, name: str | None
) -> Iterator[Tolerated]:
    if isinstance(value, dict) and schema.get("type") == "object":
        yield from _in_object(value, schema.get("properties", {}), known.get("properties", {}), path, name)
    elif isinstance(value, list) and schema.get("type") == "array":
        for index, item in enumerate(value):
            yield from _in_value(item, schema["items"], known["items"], f"{path}[{index}]", "")
    elif isinstance(value, str) and (reason := reason_of(value, schema, name or "")):
        yield Tolerated(path, reason)


def _in_object(
    value: dict[str, Any], members: dict[str, Any], known: dict[str, Any], path: str, name: str | None
) -> Iterator[Tolerated]:
    added = added_members(name)
    for member, child in value.items():
        place = f"{path}.{member[:_LONGEST_NAME_REPORTED]}"
        if member in members:
            yield from _in_value(child, members[member], known[member], place, member)
        elif member not in known and member not in added:
            yield Tolerated(place, Reason.UNKNOWN_MEMBER)


class ReadBody(NamedTuple):
    """A coerced body; `sent` is what it was made from, under the names of the schema, and `refused` what is wrong with
    the names, and what strict handling does not tolerate."""

    sent: dict[str, Any]
    body: dict[str, Any]
    refused: list[Violation]


class BodyReader:
    """Reads the bodies of one schema; compiled once.

    `known` is a wider schema, if members that only it has are no unknown ones; `compiled` makes the coercion; `served`
    are the names that clients know in place of those of the schema.
    """

    def __init__(
        self,
        schema: dict[str, Any],
        known: dict[str, Any] | None = None,
        compiled: Callable[[dict[str, Any]], Coercion] = compile_coercion,
        served: Iterable[OtherName] = (),
    ) -> None:
        self._schema = schema
        self._known = schema if known is None else known
        self._coerce = compiled(schema)
        self._served = OtherNames.of(served)

    def read(self, sent: dict[str, Any], leniency: Leniency | None = None) -> ReadBody:
        """Read a sent body. Without `leniency` members are read in any case, and nothing is refused."""
        noted = Leniency(any_case=True) if leniency is None else leniency
        body = self._coerce(sent, noted)
        return self._read_leniently(sent, noted) if noted.is_used else ReadBody(sent, body, [])

    def _read_leniently(self, sent: dict[str, Any], leniency: Leniency) -> ReadBody:
        renaming = Renaming(leniency.any_case)
        renamed = self._names.renamed(sent, renaming)
        body = self._coerce(renamed, leniency)
        others = as_many_as_reported(self._tolerated(renamed))
        leniency.tolerated = as_many_as_reported((*renaming.read, *others))
        refused = renaming.refused
        if leniency.is_strict:
            refused = [*refused, *(_VIOLATIONS[each.reason](each.path) for each in leniency.tolerated)]
        return ReadBody(renamed, body, refused)

    def _tolerated(self, body: dict[str, Any]) -> Iterator[Tolerated]:
        """Return what is tolerated apart from names, by the paths that clients know."""
        for each in tolerated(body, self._schema, self._known):
            yield replace(each, path=self._served.path(each.path)) if self._served.is_any else each

    @cached_property
    def _names(self) -> MemberNames:
        return MemberNames(self._schema, self._known, served=self._served)
