"""Refused writes by cause, and within a cause by what was sent. Entries with one cause are repaired by one act."""

import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from typing import Any
from uuid import UUID

from edfi_api.core.documents import json_text
from edfi_api.core.documents.document_validator import ValidatedDocument
from edfi_api.core.documents.paths import in_every_item
from edfi_api.features.refusals.personal_data import digest, is_hashed, kept_id, kept_message, without_quoted
from edfi_api.web.write_recorder import RefusedWrite
from references.exceptions import MissingTarget

_PREFIX = "urn:ed-fi:api:"

_NAME_OF_ELEMENT = re.compile(r"'([A-Z][A-Za-z]+)'")
_LONGEST = 500
_DEPENDENT = "data-conflict:dependent-item-exists"
_AUTHORIZATION = "security:"


@dataclass(slots=True)
class Occurrences:
    """Repetitions of one refused request: `write` is the latest that is kept."""

    write: RefusedWrite
    first_at: float
    last_at: float
    count: int = 1

    def add(self, write: RefusedWrite) -> None:
        self.write = write
        self.count_one(write.at)

    def count_one(self, at: float) -> None:
        self.last_at = at
        self.count += 1


# The place of requests that are only counted.
_OTHERS = None


@dataclass(slots=True)
class Refusals:
    """The refusals of one client, data store, resource and cause. `problem` is the type of the problem without its
    prefix, `write` the first of them, `last_at` the time of the latest, and `count` their number."""

    problem: str
    write: RefusedWrite
    last_at: float = 0.0
    count: int = 0
    _places: dict[Hashable, Occurrences] = field(default_factory=dict)

    def place_of(self, write: RefusedWrite, most: int) -> Hashable:
        """Return where the write is counted: `most` different requests have places of their own."""
        return _OTHERS if len(self._places) >= most else _request(write)

    def at(self, place: Hashable) -> RefusedWrite | None:
        """The write that is kept at a place, if there is one."""
        kept = self._places.get(place)
        return None if kept is None else kept.write

    def add(self, write: RefusedWrite, place: Hashable) -> None:
        """The write takes the place of an earlier one."""
        self.count += 1
        self.last_at = write.at
        if earlier := self._places.get(place):
            earlier.add(write)
        else:
            self._places[place] = Occurrences(write, write.at, write.at)

    def count_other(self, at: float) -> bool:
        """Count a write that needs no place of its own. Returns whether that is so."""
        others = self._places.get(_OTHERS)
        if others is None:
            return False
        others.count_one(at)
        self.count += 1
        self.last_at = at
        return True

    @property
    def documents(self) -> list[Occurrences]:
        """The first different requests."""
        return [each for place, each in self._places.items() if place is not _OTHERS]

    @property
    def others(self) -> Occurrences | None:
        """Return the occurrences after these."""
        return self._places.get(_OTHERS)


def group_of(write: RefusedWrite) -> Hashable:
    """Equal for refusals of one client, data store, resource and cause."""
    type_ = problem_type(write.problem)
    cause = cause_key(write.problem, write.missing, type_)
    return (write.client, write.data_store, write.direction, write.resource, type_, cause)


def problem_type(problem: Mapping[str, Any]) -> str:
    """The type of a problem without its prefix."""
    return str(problem.get("type", "")).removeprefix(_PREFIX)


def _request(write: RefusedWrite) -> Hashable:
    """Equal for repetitions of one request."""
    if write.sent is not None:
        said = json_text.dumps(write.sent)
    else:
        said = json_text.dumps([write.problem.get("validationErrors"), write.problem.get("errors")])
    return (write.operation, write.document_uuid and write.document_uuid.int, sha256(said).digest())


@dataclass(frozen=True, slots=True)
class Cause:
    """`awaited` is the document whose absence is the cause, `awaited_resource` the path of its resource or empty."""

    id: UUID
    text: str
    awaited_resource: str = ""
    awaited: UUID | None = None


def cause_key(body: Mapping[str, Any], missing: Sequence[MissingTarget], problem: str) -> Hashable:
    """Equal for refusals of one cause among those of one problem, whose type without prefix is `problem`."""
    if missing:
        target = missing[0]
        # The integer, because hashing and comparing UUIDs runs Python code.
        return (target.resource, None if target.referential_id is None else target.referential_id.int)
    return _text(body, problem)


def cause_of(write: RefusedWrite, problem: str) -> Cause:
    """`problem` is the type of the problem without its prefix."""
    if write.missing:
        return _missing(write, problem)
    text = _text(write.problem, problem).replace("\0", "\ufffd")[:_LONGEST]
    return Cause(digest("cause", problem, text), text)


def cause_of_problem(body: Mapping[str, Any], problem: str) -> str:
    """A sentence for a problem of any request: its detail, if nothing that was sent is its cause."""
    text = _text(body, problem)
    return kept_message(str(body.get("detail") or body.get("title") or problem)) if text == problem else text


def _missing(write: RefusedWrite, problem: str) -> Cause:
    target = write.missing[0]
    if target.referential_id is None:
        text = f"{target.resource} is missing"
        return Cause(digest("cause", problem, text), text)
    name = _name_of_target(write, target.value, target.referential_id)
    text = " ".join(part for part in (target.resource, name, "is missing") if part)[:_LONGEST]
    id_ = digest("cause", problem, target.referential_id.bytes)
    return Cause(id_, text, target.resource, kept_id(target.referential_id))


def _name_of_target(write: RefusedWrite, uri: str | None, target: UUID) -> str | None:
    if is_hashed():
        return None
    if uri is not None:
        return uri.replace("\0", "\ufffd")
    if write.validator is None:
        return None
    if isinstance(write.validated, ValidatedDocument):
        return write.validator.extractor.natural_key_of_target(write.validated.body, target)
    # Once for each cause, so that batches need not keep what they have prepared.
    return None if write.sent is None else write.validator.natural_key_of_target(write.sent, target)


def _text(body: Mapping[str, Any], problem: str) -> str:
    """Return what entries of one cause have in common."""
    by_path = body.get("validationErrors") or {}
    errors = body.get("errors") or []
    if problem == _DEPENDENT:
        return str(body["detail"])
    if problem.startswith(_AUTHORIZATION):
        elements = dict.fromkeys(name for text in errors for name in _NAME_OF_ELEMENT.findall(text))
        return ": ".join(part for part in (problem, ", ".join(elements)) if part)
    if by_path:
        path, messages = next(iter(by_path.items()))
        return _text_of_message(path, messages[0])
    return problem


# Each refused request needs it, and nearly all have one of a few messages.
@lru_cache(maxsize=256)
def _text_of_message(path: str, message: str) -> str:
    return f"{in_every_item(path)}: {without_quoted(message)}"
