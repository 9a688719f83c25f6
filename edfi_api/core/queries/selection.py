"""What is requested of a collection: `Selection`, the documents of one resource for which all predicates hold."""

from dataclasses import dataclass, field, replace
from enum import Enum

from edfi_api.core.queries.ordering import OrderBy
from edfi_api.core.storage import resource_types
from edfi_api.core.storage.row_policy import Predicate, RowPolicy
from edfi_api.model.surface.resource import Resource

LAST_ROW = LAST_VERSION = 2**63 - 1


class Order(Enum):
    """The order of a page; the values are columns of `document`."""

    ROW = "id"
    CHANGE_VERSION = "change_version"


@dataclass(frozen=True, slots=True)
class Window:
    """The change versions from `first` to `last`, inclusive."""

    first: int = 0
    last: int = LAST_VERSION

    @property
    def is_bounded(self) -> bool:
        """Whether there is an upper bound."""
        return self.last < LAST_VERSION


EVERY_VERSION = Window()


@dataclass(frozen=True, slots=True)
class Selection:
    """Documents of one resource within a range of rows and a window of change versions for which all predicates hold.

    `resource_type` is the number of the resource, `first_row` and `last_row` are row ids, inclusive. `order_by`, if
    given, is the client's order, which then takes the place of `order`.
    """

    resource_type: int
    predicates: tuple[Predicate, ...] = ()
    first_row: int = 0
    last_row: int = LAST_ROW
    window: Window = EVERY_VERSION
    order: Order = Order.ROW
    order_by: OrderBy | None = None
    using: str = field(kw_only=True)

    def where(self, *predicates: Predicate) -> "Selection":
        return replace(self, predicates=self.predicates + predicates) if predicates else self

    def restricted_by(self, policy: RowPolicy | None) -> "Selection":
        """Return the selection of those documents that the policy allows. Raises the policy's refusal if it cannot
        allow any.
        """
        return self if policy is None else self.where(policy.predicate())

    def between(self, first_row: int, last_row: int) -> "Selection":
        return replace(self, first_row=first_row, last_row=last_row)

    def within(self, window: Window) -> "Selection":
        return replace(self, window=window)

    def ordered_by(self, order: Order) -> "Selection":
        return replace(self, order=order)

    def in_order_of(self, order_by: OrderBy) -> "Selection":
        return replace(self, order=Order.ROW, order_by=order_by)

    @property
    def is_of_all_versions(self) -> bool:
        return self.window == EVERY_VERSION


def all_documents(resource: Resource, using: str) -> Selection:
    """Every document of a resource."""
    return Selection(resource_types.numbers(using)[resource.name], using=using)
