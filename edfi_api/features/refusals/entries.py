"""Refused writes → rows of the ledger. Refusals with one key are one row with a count."""

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

import orjson
from uuid_utils.compat import uuid7

from edfi_api.core.documents.document_validator import ValidatedDocument
from edfi_api.core.documents.extraction import PartialIdentity
from edfi_api.features.refusals.occurrences import Cause, Occurrences, Refusals, cause_of
from edfi_api.features.refusals.personal_data import digest, is_hashed, kept_errors, kept_hints, kept_id, kept_paths
from edfi_api.web.problem_details.problem import HINT
from edfi_api.web.write_recorder import RefusedWrite

# The columns of a row of the table `refusal`, as JSON values.
Entry = dict[str, Any]

_AUTHORIZATION = "security:"
_LONGEST_KEY = 1000
_LONGEST_TEXT = 100


def entries_of(refusals: Iterable[Refusals]) -> list[Entry]:
    """The rows of these refusals, with the values of the last occurrence; those not kept singly are a summary."""
    found: dict[tuple[Any, ...], Entry] = {}
    for each in refusals:
        cause = cause_of(each.write, each.problem)
        for document in each.documents:
            _merge(found, _entry(document, each.problem, cause))
        if each.others:
            _merge(found, summary_of(_entry(each.others, each.problem, cause)))
    return list(found.values())


def _merge(found: dict[tuple[Any, ...], Entry], entry: Entry) -> None:
    key = key_of(entry)
    if earlier := found.get(key):
        first_at = min(earlier["first_at"], entry["first_at"])
        latest = max(earlier, entry, key=lambda each: each["last_at"])
        entry = latest | {"first_at": first_at, "count": earlier["count"] + entry["count"], "id": earlier["id"]}
    found[key] = entry


def key_of(entry: Entry) -> tuple[Any, ...]:
    """The columns that are unique among open entries."""
    return tuple(entry[name] for name in ("client", "subject", "problem", "data_store", "resource", "direction"))


def summary_of(entry: Entry) -> Entry:
    """Return an entry in place of those of a client that has too many: one of each resource and cause, without
    identity.
    """
    nothing: Entry = {
        "natural_key": None,
        "document_uuid": None,
        "organization": None,
        "paths": {},
        "errors": [],
        "hints": [],
    }
    subject = digest("summary", entry["resource"], entry["cause"].bytes)
    return entry | nothing | {"subject": subject, "has_identity": False, "is_summary": True}


def summary_of_problem(entry: Entry) -> Entry:
    """Return an entry in place of summaries of a client that has too many of these, too: one of each problem, so that
    their number has a bound, whatever resources and causes the client thinks of.
    """
    problem = entry["problem"]
    cause = {"cause": digest("cause", problem), "cause_text": problem, "awaited_resource": "", "awaited": None}
    return summary_of(entry | cause | {"resource": ""})


def subjects(write: RefusedWrite) -> tuple[UUID, ...]:
    """The ids by which an accepted write of the same document is recognized."""
    known = write.validated.identity.referential_id if write.validated else _identity(write).referential_id
    return tuple(id_ for id_ in (known, write.document_uuid) if id_ is not None)


def _entry(occurrences: Occurrences, problem: str, cause: Cause) -> Entry:
    write = occurrences.write
    identity = _identity(write)
    paths = kept_paths(write.problem.get("validationErrors") or {})
    return {
        "id": uuid7(),
        "client": write.client,
        "data_store": write.data_store,
        "direction": write.direction,
        "rules": list(write.rules),
        "resource": storable(write.resource),
        "subject": _subject(write, identity, paths),
        "has_identity": identity.referential_id is not None or write.document_uuid is not None,
        "natural_key": None if is_hashed() or identity.natural_key is None else identity.natural_key[:_LONGEST_KEY],
        "document_uuid": write.document_uuid and kept_id(write.document_uuid),
        "organization": None if is_hashed() else identity.organization,
        "operation": write.operation,
        "is_batch": write.is_batch,
        "is_summary": False,
        "status": write.problem["status"],
        "problem": problem,
        "title": write.problem["title"],
        "paths": paths,
        "errors": kept_errors(_errors(write.problem, problem), problem),
        "hints": kept_hints(write.problem.get("hints") or [], problem, is_of_target=bool(write.missing)),
        "cause": cause.id,
        "cause_text": cause.text,
        "awaited_resource": cause.awaited_resource,
        "awaited": cause.awaited,
        "correlation_id": storable(write.problem.get("correlationId", "")),
        "first_at": occurrences.first_at,
        "last_at": occurrences.last_at,
        "count": occurrences.count,
    }


def _errors(body: Mapping[str, Any], problem: str) -> list[str]:
    """Return the errors with what only the detail says of a client that is not authorized: which association is
    missing, or anything.
    """
    errors = list(body.get("errors") or [])
    if not problem.startswith(_AUTHORIZATION):
        return errors
    said, _, hint = str(body.get("detail", "")).partition(HINT)
    return [*(errors or [said.strip()]), *([f"{HINT}{hint}"] if hint else [])]


def _identity(write: RefusedWrite) -> PartialIdentity:
    prepared = write.validated
    if isinstance(prepared, ValidatedDocument):
        own = prepared.identity
        return PartialIdentity(own.natural_key, own.referential_id, prepared.securables.organization)
    if write.sent is not None and write.validator is not None:
        return write.validator.partial_identity(write.sent)
    return PartialIdentity()


def _subject(write: RefusedWrite, identity: PartialIdentity, paths: dict[str, list[str]]) -> UUID:
    if identity.referential_id is not None:
        return kept_id(identity.referential_id)
    if write.document_uuid is not None and identity.natural_key is None:
        return kept_id(write.document_uuid)
    return digest("subject", write.resource, identity.natural_key or "", orjson.dumps(paths))


def storable(text: str) -> str:
    """The text, cut, and without what PostgreSQL's text cannot have."""
    return text[:_LONGEST_TEXT].encode(errors="replace").decode().replace("\0", "\ufffd")
