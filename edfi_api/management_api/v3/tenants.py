"""`v3/tenants`, on servers with tenants."""

import re
from typing import Any, ClassVar

from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from rest_framework.request import Request
from rest_framework.response import Response

from edfi_api.data_stores.models import Tenant
from edfi_api.data_stores.stores import check_segment

from .. import access, problems
from ..collections import Collection
from ..listing import Listing, exactly, number
from ..members import NOT_EMPTY, Member, Shape, at_most, says

_CHARACTERS = "Tenant name must contain only alphanumeric characters, hyphens, and underscores."
_TAKEN = "A tenant name already exists in the database. Please enter a unique name."


def _is_no_name(value: str | None) -> bool:
    return re.fullmatch(r"[A-Za-z0-9_-]+", value or "") is None


class Tenants(Collection):
    """Tenants are listed and made; what they own stands in their way of being removed."""

    address = "tenants"
    noun = "tenant"
    missing = "Tenant {id} not found. It may have been recently deleted."
    has_tenants = False
    without = frozenset({"update", "destroy"})
    shape: ClassVar[Shape] = (Member("name", rules=(NOT_EMPTY, at_most(256), says(_CHARACTERS, _is_no_name))),)
    listing = Listing(order={"id": "pk", "name": "name"}, filters={"id": number("pk"), "name": exactly("name")})
    refusals = {"tenant_once_in_any_case": problems.invalid_data({"Name": [_TAKEN]})}

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        if not access.is_multi_tenant():
            raise problems.not_found()
        super().initial(request, *args, **kwargs)

    def rows(self) -> QuerySet[Tenant]:
        return Tenant.objects.all()

    def represent(self, row: Tenant) -> dict[str, Any]:
        return {"id": row.pk, "name": row.name}

    def add(self, values: dict[str, Any]) -> Response:
        try:
            check_segment(values["name"])
        except ValidationError as error:
            raise problems.invalid_data({"Name": error.messages}) from None
        row = Tenant.objects.create(name=values["name"])
        title = f"New Tenant {row.name} has been created successfully."
        return self.created(row, {"id": row.pk, "status": 201, "title": title})
