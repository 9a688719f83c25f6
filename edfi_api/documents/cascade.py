"""Identity changes carried into referring documents: bodies, natural keys and aliases follow, transitively.

The whole change is one transaction. Aliases are locked before their referrers are looked up, so no new referrer can
appear in between: a writer that refers to the old identity waits, and then finds it gone. The new state of all
documents is worked out in memory and written at the end, in the order of their rows, so that two cascades over the
same documents meet in the same order. See meadowlark/docs/storage.md#changing-a-key.

What is held in memory are the bodies of all documents that follow: some kilobytes each.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from psycopg import errors

from edfi_api.documents import json_text, resource_types, statements
from edfi_api.documents.exceptions import DataValidationFailed, IdentityConflict, KeyChangeContradicts
from edfi_api.documents.execution import MetConcurrentWrite, execute
from edfi_api.documents.incoming import IncomingDocument, Preparers
from edfi_api.documents.statements import Demands
from edfi_api.surface.resource import ResourceName
from references.models import Alias


@dataclass(slots=True)
class _Follower:
    """A document on its way to a new body. `stored_aliases` are the ids that the database still has for it."""

    row: int
    incoming: IncomingDocument
    stored_aliases: list[UUID]

    @property
    def moves(self) -> dict[UUID, UUID]:
        """Stored id → new id, for those that differ."""
        pairs = zip(self.stored_aliases, self.incoming.identity.aliases, strict=True)
        return {stored: new for stored, new in pairs if stored != new}


def change_identity(
    incoming: IncomingDocument,
    parameters: Mapping[str, Any],
    demands: Demands | None,
    preparers: Preparers,
    using: str,
) -> None:
    """Give a document the new body and identity, and let every referrer follow.

    `parameters` name it: `document_uuid`, `expected_version` where the client set a condition, and that `client`.
    `demands` are those of a guard, which the document's own row has to meet.

    Raises IdentityConflict if a new identity is taken, KeyChangeContradicts if a referrer's other references do
    not agree with the new values, MetConcurrentWrite if the document changed or went meanwhile, or if a reference
    object of `incoming` leads nowhere. Its descriptors are checked by the foreign key, whose violation passes through.
    """
    with transaction.atomic(using):
        root = _lock_root(incoming, parameters, demands, preparers, using)
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
    """That the new identity is taken is what is wrong with the document itself, and comes before its referrers."""
    aliases = Alias.objects.using(using).filter(pk__in=root.incoming.identity.aliases)
    if aliases.exclude(document_id=root.row).exists():
        raise _conflict(root)


def _conflict(root: _Follower) -> IdentityConflict:
    return IdentityConflict(root.incoming.resource, root.incoming.identity.elements, is_new=False)


def _lock_root(
    incoming: IncomingDocument,
    parameters: Mapping[str, Any],
    demands: Demands | None,
    preparers: Preparers,
    using: str,
) -> _Follower:
    rows = execute(statements.LOCK_DOCUMENT, parameters, using)
    if not rows:
        raise MetConcurrentWrite
    if demands and execute(statements.is_still_allowed(demands), parameters, using) != [(True,)]:
        raise MetConcurrentWrite
    row, body = rows[0]
    stored = preparers[incoming.resource.name].extractor.identity(json_text.loads(body.encode()))
    return _Follower(row, incoming, stored.aliases)


def _follow(root: _Follower, preparers: Preparers, using: str) -> dict[int, _Follower]:
    """All documents that refer to a moved one, with their new bodies, by row.

    Works in waves. A document whose identity moves makes the next wave; one that is reached again, by another of
    its references, goes on from where the earlier wave left it.
    """
    followers: dict[int, _Follower] = {}
    wave = [(root, root.stored_aliases)]
    names = resource_types.names(using)
    while wave:
        moved, stored_ids = _moved(wave, preparers)
        reached = _lock_referrers(stored_ids, using)
        wave = []
        for row, resource_type, body in reached:
            if row == root.row:
                continue  # its body is what the client wants it to be
            follower = followers.get(row) or _follower(row, names[resource_type], body, preparers)
            before = follower.incoming.identity.aliases
            follower.incoming = _moved_along(follower, moved, preparers)
            followers[row] = follower
            if follower.incoming.identity.aliases != before:
                wave.append((follower, before))
    return followers


def _moved(
    wave: Iterable[tuple[_Follower, list[UUID]]], preparers: Preparers
) -> tuple[dict[UUID, dict[str, Any]], list[UUID]]:
    """New key values by the id that referrers in memory still have, and the ids that the database still has."""
    moved: dict[UUID, dict[str, Any]] = {}
    stored_ids: list[UUID] = []
    for follower, known_as in wave:
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
