"""Cascades an identity change to referring documents: updates their bodies, natural keys and aliases, transitively.

The whole change is one transaction. Aliases are locked before their referrers are selected, so no new referrer can
appear in between: a concurrent writer that refers to the old identity waits, and then its reference does not resolve.
The new state of all documents is computed in memory and written at the end in row order, so that concurrent cascades
over the same documents lock them in the same order. See meadowlark/docs/design/storage.md#changing-a-key.

The bodies of all affected documents are held in memory, some kilobytes each.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction

from edfi_api.core.documents import json_text
from edfi_api.core.documents.document_validator import DocumentValidators, ValidatedDocument
from edfi_api.core.documents.exceptions import DataValidationFailed
from edfi_api.core.documents.securables import COLUMNS
from edfi_api.core.storage import policy_statements, resource_types
from edfi_api.core.storage.driver.execution import execute
from edfi_api.core.storage.driver.sql import statements_of
from edfi_api.core.storage.exceptions import IdentityConflict, KeyChangeContradicts
from edfi_api.core.storage.stored import SECURABLES, Outcome, Written
from edfi_api.core.storage.write_errors import outcome_of
from edfi_api.core.storage.write_requests import Values, WriteRequest
from edfi_api.model.surface.resource import ResourceName
from references.models import Alias

_statement = statements_of(__file__)
_LOCK_DOCUMENT = _statement("lock_document")
_LOCK_ALIASES, _LOCK_REFERRERS = _statement("lock_aliases"), _statement("lock_referrers")
_MOVE_ALIASES, _REPLACE_REFERENCES = _statement("move_aliases"), _statement("replace_references")
_REWRITE_DOCUMENTS = _statement("rewrite_documents").fill(
    securables=SECURABLES,
    new_securables=", ".join(f"new.{name}" for name in COLUMNS),
    typed_securables=", ".join(f"{name} {type_}" for name, type_ in COLUMNS.items()),
)


@dataclass(slots=True)
class _Affected:
    """An affected document with its new body. `stored_aliases` are its referential ids in the database."""

    row: int
    validated: ValidatedDocument
    stored_aliases: list[UUID]

    @property
    def moves(self) -> dict[UUID, UUID]:
        """Stored referential id → new one, for those that differ."""
        pairs = zip(self.stored_aliases, self.validated.identity.aliases, strict=True)
        return {stored: new for stored, new in pairs if stored != new}


def change_identity(request: WriteRequest, values: Values, validators: DocumentValidators) -> Written:
    """Write the new body and identity of a document, and update every referrer.

    `values` are those of the request, with its `document_uuid` and the `expected_version` if there is a condition. The
    document's own row has to meet the conditions of the policy.

    Raises IdentityConflict if another document has a new identity, KeyChangeContradicts if a referrer's other
    references do not agree with the new values, and the violation of the foreign key of references. The outcome is
    STALE if the document was changed or deleted concurrently, MISSING_TARGET if a reference object does not resolve.
    """
    try:
        with transaction.atomic(request.using):
            root = _lock_root(request, values, validators)
            if root is None:
                return Written(Outcome.STALE)
            try:
                return _write(root, _follow(root, validators, request.using), values, request.using)
            except KeyChangeContradicts:
                _raise_if_taken(root, request.using)
                raise
    except IntegrityError as violation:
        if outcome_of(violation) is Outcome.TAKEN:
            raise _conflict(request.document) from violation
        raise


def _raise_if_taken(root: _Affected, using: str) -> None:
    """A conflict of the new identity concerns the document itself and is reported before errors of its referrers."""
    aliases = Alias.objects.using(using).filter(pk__in=root.validated.identity.aliases)
    if aliases.exclude(document_id=root.row).exists():
        raise _conflict(root.validated)


def _conflict(validated: ValidatedDocument) -> IdentityConflict:
    return IdentityConflict(validated.resource, validated.identity.elements, is_new=False)


def _lock_root(request: WriteRequest, values: Values, validators: DocumentValidators) -> _Affected | None:
    """The document, locked; None if it is not as the statement before has read it."""
    rows = execute(_LOCK_DOCUMENT.bound_to(values), request.using)
    if not rows:
        return None
    if request.policy is not None:
        still_allowed = policy_statements.still_allowed(request.policy).bound_to(values)
        if execute(still_allowed, request.using) != [(True,)]:
            return None
    row, body = rows[0]
    stored = validators[request.document.resource.name].extractor.identity(json_text.loads(body.encode()))
    return _Affected(row, request.document, stored.aliases)


def _follow(root: _Affected, validators: DocumentValidators, using: str) -> dict[int, _Affected]:
    """All transitive referrers of documents whose identity changes, with their new bodies, by row.

    Breadth-first: documents whose identity changes in one pass are the targets of the next. A document that is reached
    again, through another of its references, continues from its state after the earlier pass.
    """
    referrers: dict[int, _Affected] = {}
    frontier = [(root, root.stored_aliases)]
    names = resource_types.names(using)
    while frontier:
        moved, stored_ids = _moved_keys(frontier, validators)
        reached = _lock_referrers(stored_ids, using)
        frontier = []
        for row, resource_type, body in reached:
            if row == root.row:
                continue  # its new body is the client's
            referrer = referrers.get(row) or _referrer(row, names[resource_type], body, validators)
            before = referrer.validated.identity.aliases
            referrer.validated = _moved_along(referrer, moved, validators)
            referrers[row] = referrer
            if referrer.validated.identity.aliases != before:
                frontier.append((referrer, before))
    return referrers


def _moved_keys(
    frontier: Iterable[tuple[_Affected, list[UUID]]], validators: DocumentValidators
) -> tuple[dict[UUID, dict[str, Any]], list[UUID]]:
    """New key values by the referential id in the referrers' bodies in memory, and the ids in the database."""
    moved: dict[UUID, dict[str, Any]] = {}
    stored_ids: list[UUID] = []
    for document, known_as in frontier:
        extractor = validators[document.validated.resource.name].extractor
        keys = extractor.key_values(document.validated.body)
        moved.update(zip(known_as, keys, strict=True))
        stored_ids += document.stored_aliases
    return moved, stored_ids


def _lock_referrers(stored_ids: list[UUID], using: str) -> list[tuple[int, int, str]]:
    execute(_LOCK_ALIASES.with_values(aliases=stored_ids), using)
    return execute(_LOCK_REFERRERS.with_values(aliases=stored_ids), using)


def _referrer(row: int, name: ResourceName, text: str, validators: DocumentValidators) -> _Affected:
    stored = validators[name].understand(json_text.loads(text.encode()))
    return _Affected(row, stored, stored.identity.aliases)


def _moved_along(
    referrer: _Affected, moved: Mapping[UUID, Mapping[str, Any]], validators: DocumentValidators
) -> ValidatedDocument:
    validated = referrer.validated
    try:
        return validators[validated.resource.name].follow_moved_targets(validated.body, moved)
    except DataValidationFailed as failed:
        natural_key = validated.identity.natural_key
        raise KeyChangeContradicts(validated.resource, natural_key, referrer.row, failed.violations) from failed


def _write(root: _Affected, referrers: Mapping[int, _Affected], values: Values, using: str) -> Written:
    affected = sorted([root, *referrers.values()], key=lambda document: document.row)
    moves = {stored: new for document in affected for stored, new in document.moves.items()}
    execute(_MOVE_ALIASES.with_values(stored=list(moves), new=list(moves.values())), using)
    [(types, ids, are_there)] = execute(policy_statements.LINKS_OF_MOVED.bound_to(values), using)
    if not are_there:
        transaction.set_rollback(True, using)
        return Written(Outcome.MISSING_TARGET)
    documents = [(document.row, document.validated) for document in affected]
    rewritten = rewrite(documents, using, client=values["client"], root=root.row, types=types, ids=ids)
    execute(_REPLACE_REFERENCES.with_values(row=root.row, targets=root.validated.targets), using)
    [written] = [Written(Outcome.UPDATED, *columns) for row, *columns in rewritten if row == root.row]
    return written


def rewrite(
    documents: Sequence[tuple[int, ValidatedDocument]],
    using: str,
    *,
    client: int | None = None,
    root: int | None = None,
    types: Any = None,
    ids: Any = None,
) -> list[tuple[Any, ...]]:
    """Give documents, by row, new bodies that refer to the same documents; only the `root` gets the links `types` and
    `ids`. Row, id and version of each."""
    statement = _REWRITE_DOCUMENTS.with_values(
        rows=[row for row, _ in documents],
        bodies=[validated.text.decode() for _, validated in documents],
        securables=[json_text.dumps(validated.securables._asdict()).decode() for _, validated in documents],
        client=client,
        root=root,
        types=types,
        ids=ids,
    )
    return execute(statement, using)


def replace_once(request: WriteRequest, values: Values, validators: DocumentValidators) -> Written:
    """One attempt of an update. Raises what `change_identity` does."""
    written = Written.of(execute(policy_statements.update(request.policy).bound_to(values), request.using))
    if written.outcome is Outcome.OTHER_IDENTITY and request.document.resource.allows_identity_updates:
        return change_identity(request, values, validators)
    return written
