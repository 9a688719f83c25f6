"""Bases of admin pages whose rows are checked item by item and deleted one by one."""

from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.forms import SimpleArrayField
from django.db.models import Field
from django.http import HttpRequest

from edfi_api.web.admin_kit.authorship import RecordedAdmin


class CheckedItems:
    """Forms check the items of arrays with the validators of the model: of an error that only the model finds, Django's
    form loses the text."""

    def formfield_for_dbfield(self, db_field: "Field[Any, Any]", request: HttpRequest, **kwargs: Any) -> Any:
        field = super().formfield_for_dbfield(db_field, request, **kwargs)  # type: ignore[misc]  # of the admin class
        if isinstance(field, SimpleArrayField) and isinstance(db_field, ArrayField):
            known = field.base_field.validators
            known.extend(each for each in db_field.base_field.validators if each not in known)
        return field


class OneByOneAdmin(CheckedItems, RecordedAdmin):
    """No bulk deletion: each row is deleted on a page that lists its dependent rows, and each deletion is logged."""

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        return {name: action for name, action in super().get_actions(request).items() if name != "delete_selected"}
