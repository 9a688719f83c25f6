"""A collection of the management API: list, item, POST, PUT and DELETE over the rows of one Django model.

What a resource is like stands in its class, as data: members, order, filters, texts. `represent` makes the answers of a
page from rows that one query has read.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from django.db.models import Model, QuerySet
from rest_framework.request import Request
from rest_framework.response import Response

from . import problems
from .bodies import integer, read_values
from .listing import Listing, Page, page
from .members import Kind, Member, Rule, Shape, says
from .views import ManagementViewSet, base_address

ID = Member("id", Kind.INTEGER)


def id_member(text: str = "") -> Member:
    """The id that a PUT repeats; positive if there is a text."""
    return Member("id", Kind.INTEGER, (_positive_id(text),) if text else ())


def _positive_id(text: str) -> Rule:
    return says(text, lambda value: value <= 0)


class Collection(ManagementViewSet):
    """Version 3. A subclass has at least `address`, `shape`, `listing`, `missing` and `represent`."""

    address: ClassVar[str]
    # What events of the audit log call an item.
    noun: ClassVar[str]
    shape: ClassVar[Shape] = ()
    shape_of_put: ClassVar[Shape] = ()
    listing: ClassVar[Listing]
    # The text of a 404, with {id}.
    missing: ClassVar[str]
    # The refusals behind constraints of the database, by their names.
    refusals: ClassVar[Mapping[str, problems.Refusal]] = {}
    # Actions that the scope of authorization metadata allows.
    metadata_actions: ClassVar[frozenset[str]] = frozenset()

    # Members that answers have and requests have not.
    answered: ClassVar[Shape] = ()
    # Whether a POST of an item that exists changes it, and is answered with 200.
    post_changes_existing: ClassVar[bool] = False
    # Methods that the resource does not have.
    without: ClassVar[frozenset[str]] = frozenset()

    @classmethod
    def methods_of_list(cls) -> dict[str, str]:
        return cls._methods({"get": "list", "post": "create"})

    @classmethod
    def methods_of_item(cls) -> dict[str, str]:
        return cls._methods({"get": "retrieve", "put": "update", "delete": "destroy"})

    @classmethod
    def _methods(cls, actions: Mapping[str, str]) -> dict[str, str]:
        return {method: action for method, action in actions.items() if action not in cls.without}

    def rows(self) -> QuerySet[Any]:
        """The rows that exist for the tenant, with all that `represent` needs."""
        raise NotImplementedError

    def represent(self, row: Any) -> dict[str, Any]:
        """The item of a list."""
        raise NotImplementedError

    def item(self, row: Any) -> dict[str, Any]:
        """The item by itself."""
        return self.represent(row)

    def compared(self, row: Any) -> dict[str, Any]:
        """What shows which members a PUT has changed: the item, with what it does not show."""
        return self.item(row)

    def add(self, values: dict[str, Any]) -> Response:
        """Store a new item."""
        raise NotImplementedError

    def change(self, row: Any, values: dict[str, Any]) -> None:
        """Replace an item."""
        raise NotImplementedError

    def remove(self, row: Any) -> None:
        row.delete()

    def is_open_to_authorization_metadata(self) -> bool:
        return self.action in self.metadata_actions

    def list(self, request: Request, **_: str) -> Response:
        return self.listed(page(self.listing, self.rows(), request.query_params))

    def retrieve(self, request: Request, id: str) -> Response:
        return Response(self.item(self.found(id)))

    def create(self, request: Request) -> Response:
        values = read_values(request._request, self.shape)
        with self.written(self.refusals):
            return self.add(values)

    def update(self, request: Request, id: str) -> Response:
        number = integer(id)
        values = self.values_of_put(request, number)
        with self.written(self.refusals):
            row = self.found(number, for_update=True)
            before = self.compared(row)
            self.change(row, values)
            after = self.compared(self.found(number))
            changed = [name for name in after if after[name] != before[name]]
            self.audit(f"{self.noun} changed", id=number, members=",".join(changed) or None)
        return self.changed()

    def destroy(self, request: Request, id: str) -> Response:
        number = integer(id)
        with self.written(self.refusals):
            row = self.found(number, for_update=True)
            self.remove(row)
            self.audit(f"{self.noun} removed", id=number)
        return self.removed()

    def values_of_put(self, request: Request, number: int) -> dict[str, Any]:
        return read_values(request._request, self.shape_of_put, self.id_of_body(number))

    def id_of_body(self, number: int) -> int | None:
        """The id that the body of a PUT has to have; None if it has none."""
        return number

    @classmethod
    def shape_of_answer(cls) -> Shape:
        """The members of an item, for the OpenAPI document."""
        return (ID, *(member for member in cls.shape if member.name != "id"), *cls.answered)

    def found(self, id_: str | int, *, for_update: bool = False) -> Any:
        """The item with this id. Raises a Refusal."""
        number = integer(id_)
        if for_update:
            self.rows().model._default_manager.select_for_update(no_key=True).filter(pk=number).first()
        row = self.rows().filter(pk=number).first()
        if row is None:
            raise problems.not_found(self.missing.format(id=number))
        return row

    def listed(self, found: Page) -> Response:
        headers = {} if found.total is None else {"Total-Count": str(found.total)}
        return Response([self.represent(row) for row in found.rows], headers=headers)

    def created(self, row: Model | str | int, body: object = None, status: int = 201, **audited: object) -> Response:
        """The answer to a POST, logged."""
        identifier = row.pk if isinstance(row, Model) else row
        self.audit(f"{self.noun} {'created' if status == 201 else 'changed'}", id=identifier, **audited)
        location = f"{base_address(self.request._request)}/{self.version}/{self.address}/{identifier}"
        return Response(body, status=status, headers={"Location": location})

    def changed(self) -> Response:
        return Response(status=204)

    def removed(self) -> Response:
        return Response(status=204)
