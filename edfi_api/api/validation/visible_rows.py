"""Pages of the results that a client may see, without looking up the documents of more results than necessary."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from edfi_api.listing.sql_rows import SqlRows, matching
from edfi_api.queries.selection import LAST_ROW
from edfi_api.storage.driver.sql import Sql
from edfi_api.validation.visible import Visible, nearest

_NEAR_RESULTS = 2_000
_STEP = 4
_CHECKED = Sql("CASE WHEN d.is_beyond THEN true ELSE {checked} END")


@dataclass(frozen=True, slots=True)
class VisibleRows(SqlRows):
    """The results that meet all conditions and that a client sees.

    Without statistics of its table PostgreSQL expects few results, and checks and sorts all of them for a page. So a
    page is read from the nearest results that meet the cheap conditions, and from all only if there are more, and the
    client may not see enough of these.
    """

    visible: Visible = field(kw_only=True)

    def pages(self, size: int, offset: int) -> Iterator[Sql]:
        number = _NEAR_RESULTS
        while number < 2 * (size + offset):
            number *= _STEP
        near = nearest([*self.conditions, self.visible.organizations], self.order, min(number, LAST_ROW - 1))
        checked = matching(near, [_CHECKED.fill(checked=self.visible.checked)])
        yield self._page(checked, size, offset, order="d.place", is_shown="NOT d.is_beyond")
        yield self._page(self._matching(), size, offset)

    def _matching(self) -> Sql:
        return matching(self.tables, [*self.conditions, self.visible.whole])
