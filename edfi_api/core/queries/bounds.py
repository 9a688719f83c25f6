"""Bounds of queries without an index: they are answered only if their other conditions leave few documents."""

from dataclasses import replace

from edfi_api.common.conf import api_settings
from edfi_api.core.queries.conditions import for_many_rows, ranges
from edfi_api.core.queries.exceptions import IndexRequired
from edfi_api.core.queries.selection import Selection
from edfi_api.core.storage.driver.execution import execute, with_retries
from edfi_api.core.storage.driver.sql import Sql, all_of

_HAS_MORE = Sql("""
SELECT EXISTS (SELECT FROM document d WHERE d.resource_type_id = %(type)s::smallint AND {conditions} OFFSET %(most)s)
""")


def require_index(selection: Selection) -> None:
    """Raises IndexRequired if a predicate lacks an index, and the others leave more rows than are looked at one by
    one."""
    lacking = [each for each in selection.predicates if each.lacks_index]
    if lacking and leaves_many(without_lacking(selection)):
        raise IndexRequired(str(lacking[0].lacks_index), api_settings.MAX_ROWS_WITHOUT_INDEX)


def without_lacking(selection: Selection) -> Selection:
    """The selection by the predicates that need no index, or have one."""
    return replace(selection, predicates=tuple(each for each in selection.predicates if not each.lacks_index))


def leaves_many(selection: Selection) -> bool:
    """Whether more documents are selected than are looked at one by one, in any range of rows."""
    if any(predicate.finds_few for predicate in selection.predicates):
        return False
    statement = _HAS_MORE.fill(conditions=all_of(for_many_rows(selection)))
    values = ranges(selection) | {"most": api_settings.MAX_ROWS_WITHOUT_INDEX}
    ((has_more,),) = with_retries(lambda: execute(statement.with_values(**values), selection.using))
    return bool(has_more)
