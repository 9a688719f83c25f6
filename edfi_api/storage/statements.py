"""The SQL of the store: each operation is one statement and so one round trip. Parameters are named.

`expected_version` is the change version that a conditional write may replace, 0 if it may only insert, NULL without
a condition. `client` is the API client's row id, `user` the name of a user of the admin; a delete has no row to store
them in, so it passes them to the triggers as settings.
Inserts get their change version from the column's default, updates and deletes from triggers. All statements run at
READ COMMITTED. All parts of one statement see the same snapshot; a concurrent transaction shows as a constraint
violation or as an empty result, and the store retries the statement.

The targets of reference objects are copied into the row (`linked`). The statement locks them as the foreign key check
does later in the transaction, so a copied target cannot change before the commit. Nothing is written if one is missing.

With a policy, its conditions are part of the statement: a denied write changes nothing and returns 'denied'. Without
one, the statements are shorter. The text of a statement is composed once for each text of a policy.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from edfi_api.documents import securables
from edfi_api.storage.driver.sql import Sql, merged
from edfi_api.storage.row_policy import RowPolicy

# The securable columns are written wherever the body is.
SECURABLES = ", ".join(securables.COLUMNS)
_NEW_SECURABLES = ", ".join(f"%({name})s::{type_}" for name, type_ in securables.COLUMNS.items())

# A document that refers to itself does not exist yet when it is inserted.
_LINKED = """
linked AS MATERIALIZED (
    SELECT place, d.resource_type_id, d.document_uuid
      FROM unnest(%(linked)s::uuid[]) WITH ORDINALITY AS l (alias_id, place)
      JOIN alias a ON a.referential_id = l.alias_id JOIN document d ON d.id = a.document_id
       FOR KEY SHARE OF a
), links AS MATERIALIZED (
    SELECT array_agg(resource_type_id ORDER BY place) AS types, array_agg(document_uuid ORDER BY place) AS ids,
           count(*) = cardinality(%(linked)s::uuid[]) AS are_there
      FROM {found}
)"""
_STORED = "linked"
_STORED_OR_NEW = """(
        TABLE linked UNION ALL
        SELECT place, %(resource_type)s::smallint, %(document_uuid)s::uuid
          FROM unnest(%(linked)s::uuid[]) WITH ORDINALITY AS l (alias_id, place)
         WHERE alias_id = ANY (%(aliases)s::uuid[]) AND NOT EXISTS (SELECT FROM existing)
      ) stored_or_new"""

# The part that upsert and update have in common; they differ in how they find or insert the row.
_WRITE = """
updated AS (
    -- The change version is compared again because the row may have changed since the snapshot; the references
    -- below would then be compared with outdated rows. No row is updated in that case.
    UPDATE document d
       SET body = %(body)s::jsonb, natural_key = %(natural_key)s, ({securables}) = ROW({new_securables}),
           (linked_types, linked_ids) = (SELECT types, ids FROM links),
           last_modified_at = now(), last_modified_by = %(client)s::bigint
      FROM existing e
     WHERE d.id = e.id AND e.is_same_identity AND d.change_version = e.change_version AND e.is_expected{only_if_allowed}
       -- CASE keeps PostgreSQL from evaluating the links first, even if the body is unchanged.
       AND CASE WHEN NOT e.is_same_body THEN (SELECT are_there FROM links) END
    RETURNING d.id, d.document_uuid, d.change_version
), written AS (
    SELECT 'inserted' AS outcome, * FROM inserted UNION ALL SELECT 'updated', * FROM updated
), new_aliases AS (
    INSERT INTO alias (referential_id, document_id)
    SELECT unnest(%(aliases)s::uuid[]), id FROM inserted
), new_references AS (
    INSERT INTO reference (document_id, resource_type_id, alias_id)
    SELECT w.id, %(resource_type)s, target FROM written w CROSS JOIN unnest(%(targets)s::uuid[]) AS target
    ON CONFLICT DO NOTHING
), old_references AS (
    DELETE FROM reference r USING updated u
     WHERE r.document_id = u.id AND r.alias_id <> ALL (%(targets)s::uuid[])
)
SELECT outcome, document_uuid::text, change_version FROM written
UNION ALL
SELECT CASE WHEN is_same_identity THEN 'unchanged' ELSE 'other identity' END,
       document_uuid::text, change_version
  FROM existing WHERE is_expected AND (is_same_body OR NOT is_same_identity){only_if_allowed}{denied}
"""

_UPSERT = f"""
WITH {{proposed}}existing AS (
    SELECT d.id, d.document_uuid, d.change_version,
           d.body = %(body)s::jsonb AS is_same_body, true AS is_same_identity,
           coalesce(%(expected_version)s::bigint, d.change_version) = d.change_version AS is_expected{{is_allowed}}
      FROM alias a JOIN document d ON d.id = a.document_id
     WHERE a.referential_id = %(referential_id)s
), {_LINKED.format(found=_STORED_OR_NEW)}, inserted AS (
    INSERT INTO document (document_uuid, resource_type_id, natural_key, body, linked_types, linked_ids,
                          created_by, last_modified_by, {{securables}})
    SELECT %(document_uuid)s::uuid, %(resource_type)s::smallint, %(natural_key)s::text, %(body)s::jsonb, types, ids,
           %(client)s::bigint, %(client)s::bigint, {{new_securables}}
      FROM links
     WHERE NOT EXISTS (SELECT FROM existing) AND coalesce(%(expected_version)s::bigint, 0) = 0{{only_if_proposed}}
       AND are_there
    RETURNING id, document_uuid, change_version
), {_WRITE}
"""

_UPDATE = f"""
WITH {{proposed}}existing AS (
    SELECT d.id, d.document_uuid, d.change_version,
           d.body = %(body)s::jsonb AS is_same_body,
           EXISTS (
               SELECT FROM alias a WHERE a.document_id = d.id AND a.referential_id = %(referential_id)s
           ) AS is_same_identity,
           coalesce(%(expected_version)s::bigint, d.change_version) = d.change_version AS is_expected{{is_allowed}}
      FROM document d
     WHERE d.document_uuid = %(document_uuid)s AND d.resource_type_id = %(resource_type)s
), {_LINKED.format(found=_STORED)}, inserted AS (
    SELECT id, document_uuid, change_version FROM existing WHERE false
), {_WRITE}
"""

_DELETE = """
WITH target AS (
    SELECT id, document_uuid, change_version, set_config('meadowlark.client', %(client)s::text, true),
           set_config('meadowlark.user', %(user)s::text, true){is_allowed}
      FROM document d
     WHERE document_uuid = %(document_uuid)s AND resource_type_id = %(resource_type)s
       AND coalesce(%(expected_version)s::bigint, change_version) = change_version
), deleted AS (
    DELETE FROM document d USING target e
     WHERE d.id = e.id AND coalesce(%(expected_version)s::bigint, d.change_version) = d.change_version{only_as_it_was}
    RETURNING d.id, d.document_uuid
), own_references AS (
    -- The foreign keys are checked at the end of the statement. The document's own references are gone by then, so one
    -- that refers to itself is no obstacle to its own removal.
    DELETE FROM reference r USING deleted WHERE r.document_id = deleted.id
)
SELECT 'deleted', document_uuid FROM deleted{denied}
"""

# A restored document keeps its original creator and time of creation.
KEEP_CREATION = """
UPDATE document SET created_by = %(created_by)s::bigint, created_at = %(created_at)s::timestamptz
 WHERE document_uuid = %(document_uuid)s
RETURNING id
"""


class _Clauses(NamedTuple):
    """The texts of a policy's conditions."""

    using: str
    with_check: str
    with_check_new: str


def _under(policy: RowPolicy | None, compose: Callable[[_Clauses | None], str]) -> Sql:
    """The statement with the conditions of the policy and their parameters."""
    if policy is None:
        return Sql(compose(None))
    using, with_check, new = policy.using, policy.with_check, policy.with_check_new
    parameters = merged(merged(using.parameters, with_check.parameters), new.parameters)
    return Sql(compose(_Clauses(using.text, with_check.text, new.text)), parameters)


def upsert(policy: RowPolicy | None) -> Sql:
    """Returns outcome, id and version; 'denied' has neither id nor version if an insert is denied."""
    return _under(policy, _upsert)


@lru_cache(maxsize=1024)
def _upsert(clauses: _Clauses | None) -> str:
    return _checked(_UPSERT, clauses, _DENIED_UPSERT)


_UNCHANGED = """
SELECT d.document_uuid::text, d.change_version FROM alias a JOIN document d ON d.id = a.document_id
 WHERE a.referential_id = %(referential_id)s AND d.body = %(body)s::jsonb{allowed}
"""


def unchanged(policy: RowPolicy | None) -> Sql:
    """Returns id and version if an upsert would not change the document, otherwise no row. Takes a tenth of the time of
    the upsert statement, whose plan contains every write that may be necessary."""
    return _under(policy, _unchanged)


@lru_cache(maxsize=1024)
def _unchanged(clauses: _Clauses | None) -> str:
    return _UNCHANGED.format(allowed="" if clauses is None else f" AND {clauses.using} AND {clauses.with_check}")


def update(policy: RowPolicy | None) -> Sql:
    """As `upsert`, but no row if the document does not exist."""
    return _under(policy, _update)


@lru_cache(maxsize=1024)
def _update(clauses: _Clauses | None) -> str:
    return _checked(_UPDATE, clauses, _DENIED)


def delete(policy: RowPolicy | None) -> Sql:
    """Returns 'deleted' or 'denied', or no row if the document does not exist."""
    return _under(policy, _delete)


@lru_cache(maxsize=1024)
def _delete(clauses: _Clauses | None) -> str:
    return _checked(_DELETE, clauses, _DENIED_DELETE)


_DENIED = """
UNION ALL
SELECT 'denied', document_uuid::text, change_version FROM existing WHERE NOT is_allowed"""
# A row that changed concurrently counts as denied, since the policy has checked its former values.
_DENIED_DELETE = """
UNION ALL
SELECT 'denied', document_uuid FROM target WHERE NOT is_allowed OR NOT EXISTS (SELECT FROM deleted)"""
_DENIED_UPSERT = f"""{_DENIED}
UNION ALL
SELECT 'denied', NULL, NULL FROM proposed WHERE NOT {{is_new_allowed}} AND NOT EXISTS (SELECT FROM existing)"""


def _checked(text: str, clauses: _Clauses | None, denied: str) -> str:
    names = ("proposed", "is_allowed", "only_if_allowed", "only_as_it_was", "only_if_proposed", "denied")
    parts = dict.fromkeys(names, "")
    if clauses is not None:
        using, with_check, with_check_new = clauses
        is_delete = text is _DELETE
        proposed, is_new_allowed = f"{with_check} AS is_allowed", "is_allowed"
        if text is _UPSERT and with_check_new != with_check:
            proposed, is_new_allowed = f"{proposed}, {with_check_new} AS is_new_allowed", "is_new_allowed"
        both = using if is_delete else f"{using} AND (SELECT is_allowed FROM proposed)"
        parts = {
            "proposed": f"proposed AS MATERIALIZED (SELECT {proposed}), ",
            "is_allowed": f", {both} AS is_allowed",
            "only_if_allowed": " AND is_allowed",
            "only_as_it_was": " AND is_allowed AND d.change_version = e.change_version",
            "only_if_proposed": f" AND (SELECT {is_new_allowed} FROM proposed)",
            "denied": denied.format(is_new_allowed=is_new_allowed),
        }
    return text.format(securables=SECURABLES, new_securables=_NEW_SECURABLES, **parts)


VERSION_BY_ALIAS = """
SELECT d.change_version FROM alias a JOIN document d ON d.id = a.document_id
 WHERE a.referential_id = %(referential_id)s
"""

VERSION_BY_UUID = """
SELECT change_version FROM document
 WHERE document_uuid = %(document_uuid)s AND resource_type_id = %(resource_type)s
"""

# For the retry of a write after a concurrent one: takes the lock of the update before anything is read.
LOCK_BY_ALIAS = """
SELECT d.id FROM alias a JOIN document d ON d.id = a.document_id
 WHERE a.referential_id = %(referential_id)s
   FOR NO KEY UPDATE OF d
"""

LOCK_BY_UUID = """
SELECT id FROM document
 WHERE document_uuid = %(document_uuid)s AND resource_type_id = %(resource_type)s
   FOR NO KEY UPDATE
"""

# The fields of `StoredDocument`.
STORED_COLUMNS = """
d.id, d.document_uuid::text, {body}, d.change_version,
       to_char(d.last_modified_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
       d.linked_types::text, d.linked_ids::text
""".strip()

_GET = f"""
SELECT {STORED_COLUMNS.format(body="d.body")}{{is_allowed}}
  FROM document d
 WHERE d.document_uuid = %(document_uuid)s AND d.resource_type_id = %(resource_type)s
"""


def get(policy: RowPolicy | None) -> Sql:
    """Returns the fields of `StoredDocument`, and with a policy whether it allows to read the document."""
    if policy is None:
        return Sql(_get(None))
    using = policy.using
    return Sql(_get(using.text), using.parameters)


@lru_cache(maxsize=1024)
def _get(condition: str | None) -> str:
    return _GET.format(is_allowed="" if condition is None else f", {condition} AS is_allowed")


# For a denied request: the tests that explain the denial, on the stored document or on the new values.
TESTS_BY_ALIAS = """
SELECT true AS is_same_identity{tests}
  FROM alias a JOIN document d ON d.id = a.document_id
 WHERE a.referential_id = %(referential_id)s
"""

TESTS_BY_UUID = """
SELECT EXISTS (SELECT FROM alias a WHERE a.document_id = d.id AND a.referential_id = %(referential_id)s)
       AS is_same_identity{tests}
  FROM document d
 WHERE d.document_uuid = %(document_uuid)s AND d.resource_type_id = %(resource_type)s
"""

TESTS_OF_STORED = """
SELECT true AS is_same_identity{tests}
  FROM document d
 WHERE d.document_uuid = %(document_uuid)s AND d.resource_type_id = %(resource_type)s
"""

TESTS_OF_VALUES = "SELECT true AS is_same_identity{tests}"

# --- The cascade of an identity change; all within one transaction ---

LOCK_DOCUMENT = """
SELECT id, body::text FROM document
 WHERE document_uuid = %(document_uuid)s
   AND coalesce(%(expected_version)s::bigint, change_version) = change_version
   FOR UPDATE
"""


def is_still_allowed(policy: RowPolicy) -> Sql:
    """Whether the policy still allows the change of a document that is locked now. The permission may have been revoked
    while the transaction waited for the lock, and a statement that waits continues with its old snapshot."""
    conditions = policy.using + " AND " + policy.with_check
    return "SELECT " + conditions + " FROM document d WHERE d.document_uuid = %(document_uuid)s"


# A concurrent writer that refers to one of these either holds a weaker lock on it already, or waits for this
# transaction.
LOCK_ALIASES = """
SELECT referential_id FROM alias WHERE referential_id = ANY (%(aliases)s::uuid[]) ORDER BY referential_id FOR UPDATE
"""

LOCK_REFERRERS = """
SELECT d.id, d.resource_type_id, d.body::text
  FROM document d
 WHERE d.id IN (SELECT r.document_id FROM reference r WHERE r.alias_id = ANY (%(aliases)s::uuid[]))
 ORDER BY d.id
   FOR UPDATE
"""

# The rows of `reference` that point at them follow by ON UPDATE CASCADE.
MOVE_ALIASES = """
UPDATE alias a SET referential_id = moved.new
  FROM unnest(%(stored)s::uuid[], %(new)s::uuid[]) AS moved (stored, new)
 WHERE a.referential_id = moved.stored
RETURNING a.document_id
"""

# For the changed document itself, whose references may have changed too. Runs after the aliases have been moved.
LINKS = f"WITH {_LINKED.format(found=_STORED)} SELECT types, ids, are_there FROM links"

# The securables of each document are passed as a JSON object, since PostgreSQL's arrays of arrays must be rectangular.
# The links of all documents but the root stay, since these refer to the same documents as before.
REWRITE_DOCUMENTS = f"""
UPDATE document d
   SET body = changed.body::jsonb, natural_key = changed.natural_key,
       ({SECURABLES}) = ROW({", ".join(f"new.{name}" for name in securables.COLUMNS)}),
       (linked_types, linked_ids) = ROW(
           CASE WHEN d.id = %(root)s THEN %(types)s::smallint[] ELSE d.linked_types END,
           CASE WHEN d.id = %(root)s THEN %(ids)s::uuid[] ELSE d.linked_ids END
       ),
       last_modified_at = now(), last_modified_by = %(client)s::bigint
  FROM unnest(%(rows)s::bigint[], %(bodies)s::text[], %(natural_keys)s::text[], %(securables)s::text[])
       AS changed (id, body, natural_key, securables)
       CROSS JOIN LATERAL jsonb_to_record(changed.securables::jsonb)
       AS new ({", ".join(f"{name} {type_}" for name, type_ in securables.COLUMNS.items())})
 WHERE d.id = changed.id
RETURNING d.id
"""

REPLACE_REFERENCES = """
WITH old_references AS (
    DELETE FROM reference r WHERE r.document_id = %(row)s AND r.alias_id <> ALL (%(targets)s::uuid[])
)
INSERT INTO reference (document_id, resource_type_id, alias_id)
SELECT id, resource_type_id, unnest(%(targets)s::uuid[]) FROM document WHERE id = %(row)s
ON CONFLICT DO NOTHING
RETURNING alias_id
"""
