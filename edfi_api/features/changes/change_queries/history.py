"""The history of one document: its versions, who wrote them, what each changed, and its deletes, as far as they have
not been purged.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any
from uuid import UUID

import orjson

from edfi_api.common.conf import api_settings
from edfi_api.core.documents import json_text
from edfi_api.core.documents.securables import SecurablesExtractor
from edfi_api.core.storage import resource_types
from edfi_api.core.storage.driver.execution import execute, run_with_retries
from edfi_api.core.storage.driver.sql import statements_of
from edfi_api.core.storage.row_policy import RowPolicy
from edfi_api.model.surface.resource import Resource

_statement = statements_of(__file__)
_VERSIONS, _VISIBLE = _statement("versions"), _statement("visible_versions")
NEWEST = 2**63 - 1
DELETE = "delete"
_SECURED = ("organization", "student", "contact", "staff", "namespace", "opens_pathway")

# More differences than this are another document rather than a correction.
MOST = 200
ABSENT: Any = object()


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a document, or its delete. `operation` is insert, update, key_change or delete; `text` the body as
    JSON, None for a delete and after a purge. `at` is in UTC,
    `2026-11-22T02:10:09.512004Z`. `client` is the row id of the API client, `user` a user of the admin.
    `created_by` is known of live and deleted documents, `columns` are those of the history of a deleted one."""

    change_version: int
    operation: str
    natural_key: str
    text: str | None
    client: int | None
    user: str | None
    at: str
    created_by: int | None
    columns: dict[str, Any] | None

    @property
    def body(self) -> dict[str, Any]:
        """Empty without a body."""
        found: dict[str, Any] = json_text.loads(self.text.encode()) if self.text else {}
        return found


def versions(resource: Resource, document_uuid: UUID, size: int, before: int = NEWEST, *, using: str) -> list[Version]:
    """Return at most `size` versions before one, the newest first; none if there never was such a document."""
    number = resource_types.numbers(using)[resource.name]
    facts = {"type": number, "document_uuid": document_uuid, "before": before, "size": size}
    rows: list[tuple[Any, ...]] = run_with_retries(lambda: execute(_VERSIONS.with_values(**facts), using))
    return [Version(*values) for values in ([*row[:-1], row[-1] and orjson.loads(row[-1])] for row in rows)]


def visible(
    found: Sequence[Version],
    resource: Resource,
    document_uuid: UUID,
    policy: RowPolicy | None,
    before: int = NEWEST,
    *,
    using: str,
) -> list[Version]:
    """Return the versions among those before one that a policy for ReadChanges allows. Each is checked by its own
    values, and by the time in which it was the current one: a document may have belonged to another organization
    before, whose data the client must not see.
    """
    if policy is None or not found:
        return list(found)
    securables = SecurablesExtractor(resource)
    facts = {
        "type": resource_types.numbers(using)[resource.name],
        "document_uuid": document_uuid,
        "created_by": next((each.created_by for each in found if each.created_by is not None), None),
        "versions": orjson.dumps(
            [
                _secured(each, securables) | {"began": began, "ended": ended}
                for each, (began, ended) in zip(found, _times(found, before), strict=True)
            ],
            default=json_text.exact_number,
        ).decode(),
    }
    is_limited = not api_settings.HISTORY_BEFORE_RELATIONSHIP
    statement = _VISIBLE.with_values(**facts).fill(using=policy.using_on_versions if is_limited else policy.using)
    allowed = {row[0] for row in run_with_retries(lambda: execute(statement, using))}
    return [each for each in found if each.change_version in allowed]


def _times(found: Sequence[Version], before: int) -> Iterator[tuple[int, int]]:
    """The change versions at which each began and ended to be the current one. A delete counts as the version that it
    deletes: whoever may read that one learns of its end."""
    ended = before
    for version, older in pairwise([*found, None]):
        assert version is not None  # noqa: S101  Only the last one has none before it.
        is_of_older = version.operation == DELETE and older is not None
        yield older.change_version if is_of_older and older else version.change_version, ended
        ended = version.change_version


def clients_of(found: Iterable[Version]) -> set[int]:
    """The row ids of the API clients that wrote these versions."""
    return {each.client for each in found if each.client is not None}


def _secured(version: Version, securables: SecurablesExtractor) -> dict[str, Any]:
    own: dict[str, Any] = {"change_version": version.change_version}
    if version.columns is not None:
        return own | {name: version.columns[name] for name in (*_SECURED, "key_values")}
    body = version.body
    values = securables.securables(body)._asdict()
    return own | {name: values[name] for name in _SECURED} | {"body": body}


@dataclass(frozen=True, slots=True)
class Difference:
    """`path` as in errors, `$.addresses[0].city`; `old` or `new` is ABSENT where there was nothing."""

    path: str
    old: Any
    new: Any


def differences(old: Any, new: Any) -> list[Difference]:
    """Return at most `MOST` differences, in the order of the members."""
    return [found for found, _ in zip(_differences("$", old, new), range(MOST), strict=False)]


def _differences(path: str, old: Any, new: Any) -> Iterator[Difference]:
    if isinstance(old, dict) and isinstance(new, dict):
        for name in [*old, *(name for name in new if name not in old)]:
            yield from _differences(f"{path}.{name}", old.get(name, ABSENT), new.get(name, ABSENT))
    elif isinstance(old, list) and isinstance(new, list):
        yield from _of_items(path, old, new)
    elif type(old) is not type(new) or old != new:
        yield Difference(path, old, new)


def _of_items(path: str, old: list[Any], new: list[Any]) -> Iterator[Difference]:
    """Items that are the same in both are left out, wherever they are; one that was replaced is compared."""
    removed = [(index, item) for index, item in enumerate(old) if item not in new]
    added = [(index, item) for index, item in enumerate(new) if item not in old]
    if len(removed) == 1 and len(added) == 1:
        yield from _differences(f"{path}[{added[0][0]}]", removed[0][1], added[0][1])
        return
    for index, item in removed:
        yield Difference(f"{path}[{index}]", item, ABSENT)
    for index, item in added:
        yield Difference(f"{path}[{index}]", ABSENT, item)
