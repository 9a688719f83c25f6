"""Cascades an identity change to referring documents: updates their bodies, natural keys and aliases, transitively.

The whole change is one transaction. Aliases are locked before their referrers are selected, so no new referrer can
appear in between: a concurrent writer that refers to the old identity waits, and then its reference does not resolve.
The new state of all documents is computed in memory and written at the end in row order, so that concurrent cascades
over the same documents lock them in the same order. See meadowlark/docs/storage.md#changing-a-key.

The bodies of all affected documents are held in memory, some kilobytes each.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from psycopg import errors

from edfi_api.documents import json_text
from edfi_api.documents.exceptions import DataValidationFailed
from edfi_api.documents.incoming import IncomingDocument, Preparers
from edfi_api.model.surface.resource import ResourceName
from edfi_api.storage import resource_types, statements
from edfi_api.storage.driver.execution import MetConcurrentWrite, execute
from edfi_api.storage.exceptions import IdentityConflict, KeyChangeContradicts
from edfi_api.storage.row_policy import RowPolicy
from references.models import Alias


@dataclass(slots=True)
class _Follower:
    """An affected document with its new body. `stored_aliases` are its referential ids in the database."""

    row: int
    incoming: IncomingDocument
    stored_aliases: list[UUID]

    @property
    def moves(self) -> dict[UUID, UUID]:
        """Stored referential id → new one, for those that differ."""
        pairs = zip(self.stored_aliases, self.incoming.identity.aliases, strict=True)
        return {stored: new for stored, new in pairs if stored != new}


def change_identity(
    incoming: IncomingDocument,
    parameters: Mapping[str, Any],
    policy: RowPolicy | None,
    preparers: Preparers,
    using: str,
) -> None:
    """Write the new body and identity of a document, and update every referrer.

    `parameters` has its `document_uuid`, the `expected_version` if the client set a condition, and the `client`.
    The document's own row has to meet the conditions of `policy`.

    Raises IdentityConflict if another document has a new identity, KeyChangeContradicts if a referrer's other
    references do not agree with the new values, MetConcurrentWrite if the document was changed or deleted concurrently
    or a reference object of `incoming` does not resolve. Violations of the foreign key of descriptors pass through.
    """
    with transaction.atomic(using):
        root = _lock_root(incoming, parameters, policy, preparers, using)
        try:
            followers = _follow(root, preparers, using)
            _write(root, followers, parameters["client"], using)
        except KeyChangeContradicts:
            _raise_if_taken(root, using)
            raise
        except IntegrityError as error:
            if isinstance(error.__cause__, errors.UniqueViolation):
                raise _conflict(root) from error
            raise


def _raise_if_taken(root: _Follower, using: str) -> None:
    """A conflict of the new identity concerns the document itself and is reported before errors of its referrers."""
    aliases = Alias.objects.using(using).filter(pk__in=root.incoming.identity.aliases)
    if aliases.exclude(document_id=root.row).exists():
        raise _conflict(root)


def _conflict(root: _Follower) -> IdentityConflict:
    return IdentityConflict(root.incoming.resource, root.incoming.identity.elements, is_new=False)


def _lock_root(
    incoming: IncomingDocument,
    parameters: Mapping[str, Any],
    policy: RowPolicy | None,
    preparers: Preparers,
    using: str,
) -> _Follower:
    rows = execute(statements.LOCK_DOCUMENT, parameters, using)
    if not rows:
        raise MetConcurrentWrite
    if policy is not None:
        allowed = statements.is_still_allowed(policy).with_values(**parameters)
        if execute(allowed.text, allowed.parameters, using) != [(True,)]:
            raise MetConcurrentWrite
    row, body = rows[0]
    stored = preparers[incoming.resource.name].extractor.identity(json_text.loads(body.encode()))
    return _Follower(row, incoming, stored.aliases)


def _follow(root: _Follower, preparers: Preparers, using: str) -> dict[int, _Follower]:
    """All transitive referrers of documents whose identity changes, with their new bodies, by row.

    Breadth-first: documents whose identity changes in one pass are the targets of the next. A document that is reached
    again, through another of its references, continues from its state after the earlier pass.
    """
    followers: dict[int, _Follower] = {}
    frontier = [(root, root.stored_aliases)]
    names = resource_types.names(using)
    while frontier:
        moved, stored_ids = _moved(frontier, preparers)
        reached = _lock_referrers(stored_ids, using)
        frontier = []
        for row, resource_type, body in reached:
            if row == root.row:
                continue  # its new body is the client's
            follower = followers.get(row) or _follower(row, names[resource_type], body, preparers)
            before = follower.incoming.identity.aliases
            follower.incoming = _moved_along(follower, moved, preparers)
            followers[row] = follower
            if follower.incoming.identity.aliases != before:
                frontier.append((follower, before))
    return followers


def _moved(
    frontier: Iterable[tuple[_Follower, list[UUID]]], preparers: Preparers
) -> tuple[dict[UUID, dict[str, Any]], list[UUID]]:
    """New key values by the referential id in the referrers' bodies in memory, and the ids in the database."""
    moved: dict[UUID, dict[str, Any]] = {}
    stored_ids: list[UUID] = []
    for follower, known_as in frontier:
        extractor = preparers[follower.incoming.resource.name].extractor
        keys = extractor.key_values(follower.incoming.body)
        moved.update(zip(known_as, keys, strict=True))
        stored_ids += follower.stored_aliases
    return moved, stored_ids


def _lock_referrers(stored_ids: list[UUID], using: str) -> list[tuple[int, int, str]]:
    execute(statements.LOCK_ALIASES, {"aliases": stored_ids}, using)
    return execute(statements.LOCK_REFERRERS, {"aliases": stored_ids}, using)


def _follower(row: int, name: ResourceName, text: str, preparers: Preparers) -> _Follower:
    stored = preparers[name].understand(json_text.loads(text.encode()))
    return _Follower(row, stored, stored.identity.aliases)


def _moved_along(
    follower: _Follower, moved: Mapping[UUID, Mapping[str, Any]], preparers: Preparers
) -> IncomingDocument:
    incoming = follower.incoming
    try:
        return preparers[incoming.resource.name].follow_moved_targets(incoming.body, moved)
    except DataValidationFailed as failed:
        natural_key = incoming.identity.natural_key
        raise KeyChangeContradicts(incoming.resource, natural_key, follower.row, failed.violations) from failed


def _write(root: _Follower, followers: Mapping[int, _Follower], client: int | None, using: str) -> None:
    everyone = sorted([root, *followers.values()], key=lambda follower: follower.row)
    moves = {stored: new for follower in everyone for stored, new in follower.moves.items()}
    execute(statements.MOVE_ALIASES, {"stored": list(moves), "new": list(moves.values())}, using)
    [(types, ids, are_there)] = execute(statements.LINKS, {"linked": root.incoming.linked}, using)
    if not are_there:
        raise MetConcurrentWrite
    execute(
        statements.REWRITE_DOCUMENTS,
        {
            "rows": [follower.row for follower in everyone],
            "bodies": [follower.incoming.text.decode() for follower in everyone],
            "natural_keys": [follower.incoming.identity.natural_key for follower in everyone],
            "securables": [json_text.dumps(follower.incoming.securables._asdict()).decode() for follower in everyone],
            "client": client,
            "root": root.row,
            "types": types,
            "ids": ids,
        },
        using,
    )
    execute(statements.REPLACE_REFERENCES, {"row": root.row, "targets": root.incoming.targets}, using)
