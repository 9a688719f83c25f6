"""Upsert, update and delete of one document by a client: what a request does, and an operation of a batch.

Each function takes a `Write`, which is what the client has sent, decoded, and returns what was written. The order of
checks is that of the contract (meadowlark/docs/reference/contract.md#order-of-checks): the profile, the document, the
authorization, then what is stored. HTTP is left to the callers. Without custom rules nothing is called
for them.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple
from uuid import UUID

from edfi_api.common.conf import api_settings
from edfi_api.core.documents import violations
from edfi_api.core.documents.blanks import distinguished, is_regular
from edfi_api.core.documents.document_validator import (
    DocumentValidator,
    DocumentValidators,
    PendingDocument,
    ValidatedDocument,
    sent_id,
)
from edfi_api.core.documents.exceptions import ContradictsHidden, DataValidationFailed
from edfi_api.core.documents.extraction import StoredUris
from edfi_api.core.documents.paths import steps_of, values_at
from edfi_api.core.documents.violations import Leniency, Reason, Tolerated
from edfi_api.core.documents.visible_part import is_visible_path, without_indexes
from edfi_api.core.security.authenticated_client import AuthenticatedClient
from edfi_api.core.security.profiles.catalog import OfParts, ProfilePart, ProfileValidator
from edfi_api.core.security.profiles.exceptions import ContradictionPreventedByProfile, CreationPreventedByProfile
from edfi_api.core.security.profiles.negotiation import ProfiledResource, Visibility, in_content_type, visibility_of
from edfi_api.core.security.requests.authorization import Authorization, readable_rows
from edfi_api.core.storage import merges, store
from edfi_api.core.storage.exceptions import KeyChangeContradicts
from edfi_api.core.storage.near_keys import near_keys
from edfi_api.core.storage.stored import Outcome, Written, stored_versions
from edfi_api.core.storage.write_requests import UNCONDITIONAL, DeleteRequest, WriteCondition, WriteRequest
from edfi_api.core.writes.rules.configured import rules_of
from edfi_api.core.writes.rules.enforcing import WriteCheck, checked_write
from edfi_api.core.writes.rules.ruled_write import Finding, WritingClient
from edfi_api.model.surface.resource import JsonPath, Resource

# Returns what the client may do; called when the document has been checked. Raises the refusals of the claim set.
Authorize = Callable[[], Authorization]


@dataclass(frozen=True, slots=True)
class WritableResource:
    """A resource with what its writes need: `validator` and `profile_validators` prepare its documents, as a whole and
    under parts of profiles; `validators` are those of all resources, to which a changed key cascades."""

    resource: Resource
    profiled: ProfiledResource
    validator: DocumentValidator
    profile_validators: OfParts[ProfileValidator | None]
    validators: DocumentValidators


@dataclass(slots=True, kw_only=True)
class Write:
    """A document to upsert, one to write in place of that with the id, or, without a document, the id of one to delete.

    `content_type` may name a profile. With `may_omit_id` the document of an update need not repeat the id; with
    `ignores_id` whatever it has for one is ignored. `leniency`
    gets what is tolerated in the document, and `validated` is what becomes of it once it has been found valid: both are
    also known of a write that is refused later.
    """

    resource: WritableResource
    client: AuthenticatedClient
    using: str
    stored_uris: StoredUris
    document: dict[str, Any] | None = None
    document_uuid: UUID | None = None
    content_type: str = ""
    condition: WriteCondition = UNCONDITIONAL
    leniency: Leniency = field(default_factory=Leniency)
    may_omit_id: bool = False
    ignores_id: bool = False
    # The time in seconds since 1970.
    began: float = field(default_factory=time.time)
    validated: ValidatedDocument | PendingDocument | None = None
    # Custom rules for the document, if there are any.
    check: WriteCheck | None = None
    # The schema of the documents of the resource; None while it is not known whether a profile hides members, and if
    # one does.
    schema: dict[str, Any] | None = None


class WrittenDocument(NamedTuple):
    """What was written, under a part of a profile if there is one. `warnings` are those of custom rules."""

    outcome: Outcome
    document_uuid: str
    change_version: int
    part: ProfilePart | None = None
    warnings: tuple[Finding, ...] = ()


def upsert(write: Write, authorize: Authorize) -> WrittenDocument:
    """Insert the document, or replace the one with its natural key.

    Raises what refuses it: of a profile, as `Negotiation.part` does; of the document, as `validate_new` of the
    validator; of the claim set; of what is stored, as `store.upsert`; and of custom rules, as `WriteCheck` does.
    """
    assert write.document is not None  # noqa: S101  Only a delete has none.
    mode = _write_mode(write, "POST", ("GET", "POST"))
    write.validated = mode.validator.validate_new(write.document, write.stored_uris, write.leniency)
    terms = _terms(write, authorize())
    if api_settings.WRITE_RULES:
        mode = _under_rules(write, mode)
    if write.leniency.is_strict:
        _refuse_key_like_stored_one(write)
    written = mode.upsert(mode.request_class(write.validated, **terms))
    if written.outcome is Outcome.INSERTED and not write.leniency.is_strict:
        _note_key_like_stored_one(write)
    return _result(write, mode, written)


def _refuse_key_like_stored_one(write: Write) -> None:
    """Raises DataValidationFailed if the document is new, and the client may read one whose key looks equal."""
    identity = write.validated.identity if write.validated else None
    if identity is None or stored_versions([identity.referential_id], write.using):
        return
    if found := list(_like_stored_ones(write)):
        raise DataValidationFailed([violations.like_stored_key(str(path), stored) for path, stored in found])


def _note_key_like_stored_one(write: Write) -> None:
    """Looked for only if something in the key of a new document is easily overlooked: it costs some queries."""
    if write.validated is None or all(map(is_regular, (value for _, value in write.validated.identity.elements))):
        return
    write.leniency.tolerated += [Tolerated(str(path), Reason.LIKE_STORED_KEY) for path, _ in _like_stored_ones(write)]


def _like_stored_ones(write: Write) -> Iterator[tuple[JsonPath, str]]:
    """The paths of the document's own key at which a stored one that the client may read looks equal and is not, with
    the stored value."""
    new, resource = _new_document(write), write.resource.resource
    if new is None:
        return
    key = {path: value for path in resource.identity for _, value in values_at(new.body, path.steps)}
    near = near_keys(resource, key, write.using)
    rows = dict.fromkeys((each.row for each in near), resource.name)
    surface = write.resource.validators.surface
    readable = readable_rows(write.client, surface, write.using, rows) if rows else ()
    stored: dict[JsonPath, Any] = next((each.key for each in near if each.row in readable), {})
    for path, found in stored.items():
        if len(path.steps) == 1 and found != key[path]:
            yield path, distinguished(str(found), str(key[path]))


def _new_document(write: Write) -> ValidatedDocument | None:
    """The document to insert; None if the profile prevents that."""
    if not isinstance(write.validated, PendingDocument):
        return write.validated
    try:
        return write.validated.merged(None)
    except CreationPreventedByProfile:
        return None


def update(write: Write, authorize: Authorize) -> WrittenDocument:
    """Replace the document with the id. Raises as `upsert`, `validate_replacement` of the validator and `store.update`
    do."""
    assert write.document is not None and write.document_uuid is not None  # noqa: S101  An update has both.
    resource, document, uuid = write.resource, write.document, write.document_uuid
    mode = _write_mode(write, "PUT", ("GET", "PUT", "DELETE"))
    if write.ignores_id:
        document = {name: value for name, value in document.items() if name.lower() != "id"} | {"id": str(uuid)}
    elif write.may_omit_id and document.get("id") is None and sent_id(document) is None:
        document = document | {"id": str(uuid)}
    write.validated = mode.validator.validate_replacement(document, uuid, write.stored_uris, write.leniency)
    terms = _terms(write, authorize())
    if api_settings.WRITE_RULES:
        mode = _under_rules(write, mode)
    request = mode.request_class(write.validated, **terms)
    try:
        written = mode.update(request, uuid, resource.validators)
    except KeyChangeContradicts as refusal:
        raise _without_hidden(refusal, visibility_of(write.client, resource.profiled.catalogs)) from refusal
    return _result(write, mode, written)


def delete(write: Write, authorize: Authorize) -> bool:
    """Delete the document with the id; False if there is none. Raises the refusals of the claim set, and what
    `store.delete` does."""
    assert write.document_uuid is not None  # noqa: S101  A delete has an id.
    terms = _terms(write, authorize())
    return store.delete(DeleteRequest(write.resource.resource, write.document_uuid, **terms))


class _WriteMode(NamedTuple):
    """How documents are written under a part of a profile, or without one: what prepares and what writes them, and the
    class of its request. Under a part that hides members they are merged with the stored ones."""

    part: ProfilePart | None
    validator: DocumentValidator | ProfileValidator
    request_class: Callable[..., Any]
    upsert: Callable[[Any], Written]
    update: Callable[[Any, UUID, DocumentValidators], Written]


def _write_mode(write: Write, method: str, route_methods: tuple[str, ...]) -> _WriteMode:
    """Return the mode of a write by the profile that the write names or its client is assigned."""
    requested = in_content_type(write.content_type)
    part = merging = None
    if requested is not None or write.client.profile_ids:
        part = write.resource.profiled.part(write.client, requested, method, route_methods)
        merging = None if part is None else write.resource.profile_validators[part]
    if merging is None:
        write.schema = write.resource.resource.json_schema
        return _WriteMode(part, write.resource.validator, WriteRequest, store.upsert, store.update)
    return _WriteMode(part, merging, merges.MergeRequest, merges.upsert, merges.update)


def _under_rules(write: Write, mode: _WriteMode) -> _WriteMode:
    """The mode in which custom rules are run, too. Raises what those that read the document only do."""
    rules = rules_of(write.resource.resource)
    if rules is None:
        return mode
    check = write.check = WriteCheck(rules, WritingClient(write.client.key, write.client.education_organization_ids))
    if not isinstance(write.validated, ValidatedDocument):
        assert mode.part is not None and mode.part.view is not None  # noqa: S101  Without them nothing is merged.
        view, profile = mode.part.view, mode.part.profile
        check.shows = lambda path: is_visible_path(without_indexes(path), view)
        return mode._replace(request_class=partial(mode.request_class, check=_naming(profile, check.all(write.using))))
    check.check_document(write.validated)
    if not rules.others:
        return mode
    return mode._replace(request_class=partial(checked_write, check=check), upsert=merges.upsert, update=merges.update)


def _naming(profile: str, check: merges.Check) -> merges.Check:
    """The check; if what it finds is at hidden members alone, no more is said than that there are some."""

    def check_and_name(document: ValidatedDocument, stored: dict[str, Any] | None) -> None:
        try:
            check(document, stored)
        except ContradictsHidden as error:
            raise ContradictionPreventedByProfile(profile) from error

    return check_and_name


def _terms(write: Write, allowed: Authorization) -> dict[str, Any]:
    condition, read_policy = write.condition, None
    if condition is not UNCONDITIONAL:
        condition = write.resource.profiled.condition(condition, write.client)
        read_policy = allowed.read_policy() if condition.names_versions else None
    return {
        "client": write.client.row_id,
        "condition": condition,
        "policy": allowed.policy,
        "may_read": allowed.may_read,
        "read_policy": read_policy,
        "using": write.using,
    }


def _result(write: Write, mode: _WriteMode, written: Written) -> WrittenDocument:
    return WrittenDocument(*written, mode.part, () if write.check is None else write.check.warnings)


def _without_hidden(refusal: KeyChangeContradicts, visibility: Visibility) -> KeyChangeContradicts:
    """The refusal without its violations if one is at a hidden place of the referrer: each contains the values of all
    places that have to agree."""
    places = [JsonPath(steps_of(violation.path)) for violation in refusal.violations]
    if all(visibility.shows(refusal.resource, place) for place in places):
        return refusal
    return replace(refusal, violations=[])
