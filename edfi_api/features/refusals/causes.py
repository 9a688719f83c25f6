"""The cause of a refusal: entries with one cause are repaired by one act."""

import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from uuid import UUID

from edfi_api.core.documents.incoming import IncomingDocument
from edfi_api.core.documents.paths import in_every_item
from edfi_api.features.refusals.personal_data import digest, is_hashed, kept_id, without_quoted
from edfi_api.web.write_recorder import RefusedWrite
from references.exceptions import MissingTarget

_NAME_OF_ELEMENT = re.compile(r"'([A-Z][A-Za-z]+)'")
_LONGEST = 500
_DEPENDENT = "data-conflict:dependent-item-exists"
_AUTHORIZATION = "security:"


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
    if write.preparer is None:
        return None
    if isinstance(write.prepared, IncomingDocument):
        return write.preparer.extractor.natural_key_of_target(write.prepared.body, target)
    # Once for each cause, so that batches need not keep what they have prepared.
    return None if write.sent is None else write.preparer.natural_key_of_target(write.sent, target)


def _text(body: Mapping[str, Any], problem: str) -> str:
    """What entries of one cause have in common."""
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
