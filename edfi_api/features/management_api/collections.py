"""A collection of the management API: list, item, POST, PUT and DELETE over the rows of one Django model.

What a resource is like stands in its class, as data: bodies, order, filters. `represent` makes the answers of a page
from rows that one query has read. Version 2 is a translation: its bodies are translated into those of version 3, its
items from them.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from django.db.models import Model, QuerySet
from rest_framework.request import Request
from rest_framework.response import Response

from edfi_api.core.queries.listing.pages import Listed
from edfi_api.features.management_api import problems, texts
from edfi_api.features.management_api.bodies import BodyMember, Integer, ManagementBody, integer, members_of, read
from edfi_api.features.management_api.listing import Listing, page
from edfi_api.features.management_api.views import ManagementViewSet, base_address


class Answered(ManagementBody, frozen=True, kw_only=True):
    """The members that an answer has and requests have not."""

    id: Integer = None


class Collection(ManagementViewSet):
    """Version 3. A subclass has at least `address`, `bodies`, `listing` and `represent`."""

    address: ClassVar[str]
    # What events of the audit log call an item.
    noun: ClassVar[str]
    # By action.
    bodies: ClassVar[Mapping[str, type[ManagementBody]]]
    listing: ClassVar[Listing]
    # The refusals behind constraints of the database, by their names.
    refusals: ClassVar[Mapping[str, problems.RequestRefused]] = {}
    # Actions that the scope of authorization metadata allows.
    metadata_actions: ClassVar[frozenset[str]] = frozenset()

    answered: ClassVar[type[Answered]] = Answered
    # Whether a POST of an item that exists changes it, and is answered with 200.
    post_changes_existing: ClassVar[bool] = False
    # Actions that the resource does not have.
    without: ClassVar[frozenset[str]] = frozenset()

    # The body as it was sent.
    sent: ManagementBody

    @classmethod
    def methods_of_list(cls) -> dict[str, str]:
        return cls._methods({"get": "list", "post": "create"})

    @classmethod
    def methods_of_item(cls) -> dict[str, str]:
        return cls._methods({"get": "retrieve", "put": "update", "delete": "destroy"})

    @classmethod
    def _methods(cls, actions: Mapping[str, str]) -> dict[str, str]:
        return {method: action for method, action in actions.items() if action not in cls.without}

    @classmethod
    def members_of_answer(cls) -> list[BodyMember]:
        """The members of an item, for the OpenAPI document."""
        id_, *answered = members_of(cls.answered)
        return [id_, *(each for each in members_of(cls.bodies["create"]) if each.name != "id"), *answered]

    def rows(self) -> QuerySet[Any]:
        """The rows that exist for the tenant, with all that `represent` needs."""
        raise NotImplementedError

    def represent(self, row: Any) -> dict[str, Any]:
        """The item of a list."""
        raise NotImplementedError

    def item(self, row: Any) -> dict[str, Any]:
        """The item by itself."""
        return self.represent(row)

    def whole_item(self, row: Any) -> dict[str, Any]:
        """The item with what it does not show, by which a PUT finds the members that it has changed."""
        return self.item(row)

    def add(self, body: Any) -> Response:
        """Store a new item."""
        raise NotImplementedError

    def change(self, row: Any, body: Any) -> None:
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
        body = self.read()
        with self.write_transaction(self.refusals):
            return self.add(body)

    def update(self, request: Request, id: str) -> Response:
        number = integer(id)
        body = self.read(number)
        with self.write_transaction(self.refusals):
            row = self.found(number, for_update=True)
            before = self.whole_item(row)
            self.change(row, body)
            after = self.whole_item(self.found(number))
            changed = [name for name in after if after[name] != before[name]]
            self.audit(f"{self.noun} changed", id=number, members=",".join(changed) or None)
        return self.changed()

    def destroy(self, request: Request, id: str) -> Response:
        number = integer(id)
        with self.write_transaction(self.refusals):
            row = self.found(number, for_update=True)
            self.remove(row)
            self.audit(f"{self.noun} removed", id=number)
        return self.removed()

    def read(self, number: int | None = None) -> Any:
        """The body of the request as version 3 has it; `number` is the id that the body of a PUT repeats. Raises a
        RequestRefused."""
        self.sent = read(self.request._request, self.bodies[self.action], number)
        return self.sent

    @property
    def sent_members(self) -> str:
        """The names of the members that the body can have, for the audit log."""
        return ",".join(each.name for each in members_of(type(self.sent)))

    def found(self, id_: str | int, *, for_update: bool = False) -> Any:
        """The item with this id. Raises RequestRefused."""
        number = integer(id_)
        if for_update:
            self.rows().model._default_manager.select_for_update(no_key=True).filter(pk=number).first()
        row = self.rows().filter(pk=number).first()
        if row is None:
            raise self.missing(number)
        return row

    def missing(self, number: int | None = None) -> problems.RequestRefused:
        """The refusal of an item that does not exist."""
        return problems.not_found(texts.NOT_FOUND[self.address].format(id=number))

    def listed(self, found: Listed[Any]) -> Response:
        return Response([self.represent(row) for row in found.rows], headers=found.headers)

    def created(self, row: Model | int, body: object = None, status: int = 201, **audited: object) -> Response:
        """The answer to a POST, logged."""
        identifier = row.pk if isinstance(row, Model) else row
        self.audit(f"{self.noun} {'created' if status == 201 else 'changed'}", id=identifier, **audited)
        location = f"{base_address(self.request._request)}/{self.version}/{self.address}/{identifier}"
        return Response(body, status=status, headers={"Location": location})

    def changed(self) -> Response:
        return Response(status=204)

    def removed(self) -> Response:
        return Response(status=204)
