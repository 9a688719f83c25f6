"""The statements that read or write one document, or several whose likely outcome is the same, with the conditions of a
policy as part of them.

The texts are in `statements/`. With a policy, a denied write changes nothing and its outcome is 'denied'; without one,
the statements are shorter. A text is composed once for each text of a policy, so that it is prepared once.
"""

from collections.abc import Callable
from functools import cache, lru_cache
from typing import NamedTuple

from edfi_api.core.documents.securables import COLUMNS
from edfi_api.core.storage.driver.sql import Sql, all_of, merged, statements_of
from edfi_api.core.storage.row_policy import RowPolicy, SetConditions
from edfi_api.core.storage.stored import SECURABLES, STORED_COLUMNS, Outcome


class _Clauses(NamedTuple):
    """The texts of a policy's conditions."""

    using: str
    with_check: str
    with_check_new: str


_statement = statements_of(__file__)

_AND_HAS_ID = " AND d.document_uuid = %(document_uuid)s"
_NEW_SECURABLES = ", ".join(f"%({name})s::{type_}" for name, type_ in COLUMNS.items())
_SECURABLES = {"securables": SECURABLES, "new_securables": _NEW_SECURABLES}
_LINKS, _LINKS_OF_NEW, _WRITE = _statement("links"), _statement("links_of_new"), _statement("write")
_UPSERT, _UPDATE = _statement("upsert"), _statement("update")
_INSERT, _UPDATE_BODY, _UNCHANGED = _statement("insert"), _statement("update_body"), _statement("unchanged")
_DELETE, _GET, _STILL_ALLOWED = _statement("delete"), _statement("get"), _statement("still_allowed")
_STORED_BY_ALIAS, _STORED_BY_UUID = _statement("stored_by_alias"), _statement("stored_by_uuid")
_LINKS_OF_STORED, _NO_LINKS = _LINKS.fill(found="linked"), _statement("no_links")
_LINKS_OF_SET, _NO_LINKS_OF_SET = _statement("links_of_set"), _statement("no_links_of_set")
# The statements by likely outcome, with the rows of which the statement needs the links.
_LIKELY_SETS = {
    Outcome.INSERTED: (_statement("insert_set"), "staged_document"),
    Outcome.UPDATED: (_statement("update_set"), "existing"),
}
LINKS_OF_MOVED = _statement("links_of_moved").fill(links=_LINKS_OF_STORED)


def upsert(policy: RowPolicy | None) -> Sql:
    """Inserts a document or replaces the one with its natural key; see `statements/upsert.sql`."""
    return _under(policy, _upsert)


def likely_upsert(outcome: Outcome, policy: RowPolicy | None, *, has_links: bool) -> Sql:
    """An upsert that does what leads to this outcome only, and returns no row if there is another one; see
    `statements/insert.sql`, `update_body.sql` and `unchanged.sql`. `has_links`: the document has reference objects."""
    return _under(policy, _LIKELY_UPSERTS[outcome], has_links)


def likely_set(outcome: Outcome, conditions: SetConditions, staged: str, *, has_links: bool) -> Sql:
    """Return what `likely_upsert` returns, for the rows of a set: `staged` defines them as `staged_document`. See
    `statements/insert_set.sql` and `update_set.sql`.
    """
    is_insert = outcome is Outcome.INSERTED
    allowed = conditions.with_check_new if is_insert else all_of([conditions.using, conditions.with_check])
    return Sql(_likely_set(outcome, allowed.text, staged, has_links), allowed.parameters)


def update(policy: RowPolicy | None) -> Sql:
    """Replaces the document with an id; see `statements/update.sql`."""
    return _under(policy, _update)


def likely_update(outcome: Outcome, policy: RowPolicy | None, *, has_links: bool) -> Sql:
    """Return what `likely_upsert` returns, for the document with an id. An update never inserts."""
    return _under(policy, _LIKELY_UPDATES[outcome], has_links, _AND_HAS_ID)


def delete(policy: RowPolicy | None) -> Sql:
    """Deletes the document with an id; see `statements/delete.sql`."""
    return _of_stored(policy, _delete)


def get(policy: RowPolicy | None) -> Sql:
    """Reads the document with an id; see `statements/get.sql`."""
    return _of_stored(policy, _get)


def stored_by_alias(policy: RowPolicy | None) -> Sql:
    """Reads what a merge replaces, by natural key; see `statements/stored_by_alias.sql`."""
    return _of_stored(policy, _stored_by_alias)


def stored_by_uuid(policy: RowPolicy | None) -> Sql:
    """Reads what a merge replaces, by id; see `statements/stored_by_uuid.sql`."""
    return _of_stored(policy, _stored_by_uuid)


def still_allowed(policy: RowPolicy) -> Sql:
    """Return whether a policy allows to change a document that is locked; see `statements/still_allowed.sql`."""
    return _STILL_ALLOWED.fill(is_allowed=policy.using + " AND " + policy.with_check)


def _under(policy: RowPolicy | None, compose: Callable[..., str], *parts: bool | str) -> Sql:
    """The statement with the conditions of the policy and their parameters, which is composed of other parts, too."""
    if policy is None:
        return _unrestricted(compose, *parts)
    using, check, new = policy.using, policy.with_check, policy.with_check_new
    parameters = merged(merged(using.parameters, check.parameters), new.parameters)
    return Sql(compose(_Clauses(using.text, check.text, new.text), *parts), parameters)


def _of_stored(policy: RowPolicy | None, compose: Callable[[str | None], str]) -> Sql:
    if policy is None:
        return _unrestricted(compose)
    using = policy.using
    return Sql(compose(using.text), using.parameters)


@cache
def _unrestricted(compose: Callable[..., str], *parts: bool | str) -> Sql:
    return Sql(compose(None, *parts))


@lru_cache(maxsize=1024)
def _upsert(clauses: _Clauses | None) -> str:
    parts = dict.fromkeys(("new_values", "is_allowed", "and_new_allowed", "new_denied"), "")
    if clauses is not None:
        values, is_new_allowed = f"{clauses.with_check} AS is_allowed", "is_allowed"
        if clauses.with_check_new != clauses.with_check:
            values, is_new_allowed = f"{values}, {clauses.with_check_new} AS is_new_allowed", "is_new_allowed"
        parts = {
            "new_values": _new_values(values),
            "is_allowed": _is_allowed(clauses),
            "and_new_allowed": f" AND (SELECT {is_new_allowed} FROM new_values)",
            "new_denied": f"WHEN NOT (SELECT {is_new_allowed} FROM new_values) THEN 'denied' ",
        }
    links = _LINKS.fill(found=_LINKS_OF_NEW)
    return _UPSERT.fill(links=links, write=_write(clauses), **_SECURABLES, **parts).text


@lru_cache(maxsize=1024)
def _update(clauses: _Clauses | None) -> str:
    parts = dict.fromkeys(("new_values", "is_allowed"), "")
    if clauses is not None:
        new_values = _new_values(f"{clauses.with_check} AS is_allowed")
        parts = {"new_values": new_values, "is_allowed": _is_allowed(clauses)}
    return _UPDATE.fill(links=_LINKS_OF_STORED, write=_write(clauses), **parts).text


def _new_values(conditions: str) -> str:
    """The conditions on the new values, evaluated once."""
    return f"new_values AS MATERIALIZED (SELECT {conditions}), "


def _is_allowed(clauses: _Clauses) -> str:
    return f", {clauses.using} AND (SELECT is_allowed FROM new_values) AS is_allowed"


def _write(clauses: _Clauses | None) -> Sql:
    and_allowed, denied = ("", "") if clauses is None else (" AND is_allowed", "WHEN NOT is_allowed THEN 'denied' ")
    return _WRITE.fill(and_allowed=and_allowed, denied=denied, **_SECURABLES)


@lru_cache(maxsize=1024)
def _insert(clauses: _Clauses | None, has_links: bool) -> str:
    and_allowed = "" if clauses is None else f" AND {clauses.with_check_new}"
    return _INSERT.fill(links=_links(has_links), and_allowed=and_allowed, **_SECURABLES).text


@lru_cache(maxsize=1024)
def _update_body(clauses: _Clauses | None, has_links: bool, and_has_id: str = "") -> str:
    parts = {"and_has_id": and_has_id, "and_allowed": _and_allowed(clauses)}
    return _UPDATE_BODY.fill(links=_links(has_links), **parts, **_SECURABLES).text


@lru_cache(maxsize=1024)
def _likely_set(outcome: Outcome, allowed: str, staged: str, has_links: bool) -> str:
    statement, with_links = _LIKELY_SETS[outcome]
    return statement.fill(
        staged=staged,
        links=_LINKS_OF_SET.fill(rows=with_links) if has_links else _NO_LINKS_OF_SET,
        securables=SECURABLES,
        stored_securables=_securables_of("d"),
        new_securables=_securables_of("s"),
        and_allowed=f" AND ({allowed})",
    ).text


def _securables_of(row: str) -> str:
    return ", ".join(f"{row}.{name}" for name in COLUMNS)


@lru_cache(maxsize=1024)
def _unchanged(clauses: _Clauses | None, _has_links: bool, and_has_id: str = "") -> str:
    return _UNCHANGED.fill(and_has_id=and_has_id, and_allowed=_and_allowed(clauses)).text


_LIKELY_UPDATES = {Outcome.UPDATED: _update_body, Outcome.UNCHANGED: _unchanged}
_LIKELY_UPSERTS = {Outcome.INSERTED: _insert, **_LIKELY_UPDATES}


def _links(has_links: bool) -> Sql:
    return _LINKS_OF_STORED if has_links else _NO_LINKS


def _and_allowed(clauses: _Clauses | None) -> str:
    return "" if clauses is None else f" AND {clauses.using} AND {clauses.with_check}"


@lru_cache(maxsize=1024)
def _delete(condition: str | None) -> str:
    if condition is None:
        return _DELETE.fill(is_allowed="", only_as_it_was="", denied="").text
    return _DELETE.fill(
        is_allowed=f", {condition} AS is_allowed",
        only_as_it_was=" AND is_allowed AND d.change_version = e.change_version",
        denied=" WHEN NOT is_allowed THEN 'denied'",
    ).text


@lru_cache(maxsize=1024)
def _get(condition: str | None) -> str:
    is_allowed = "" if condition is None else f", {condition} AS is_allowed"
    return _GET.fill(columns=STORED_COLUMNS.format(body="d.body"), is_allowed=is_allowed).text


@lru_cache(maxsize=1024)
def _stored_by_alias(condition: str | None) -> str:
    return _STORED_BY_ALIAS.fill(is_allowed=condition or "true").text


@lru_cache(maxsize=1024)
def _stored_by_uuid(condition: str | None) -> str:
    return _STORED_BY_UUID.fill(is_allowed=condition or "true").text
