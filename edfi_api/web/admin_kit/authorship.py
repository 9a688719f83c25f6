"""Pages of rows that record who wrote them, and when."""

from typing import Any

from cachetools import TTLCache, cached
from django.contrib import admin
from django.http import HttpRequest
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from edfi_api.common.logs.audit import attribute_to
from edfi_api.core.data_stores.models import Writers
from edfi_api.core.security.models import ApiClient
from edfi_api.web.admin_kit.readable_values import timestamp

# A page lists a hundred rows of a few clients; a client is hardly ever renamed.
_SECONDS = 10
_MOST = 4096


def admin_user(request: HttpRequest) -> str:
    """Return how logs and rows name the user of a request."""
    return f"admin:{request.user.get_username()}"


class RecordedAdmin(admin.ModelAdmin):  # type: ignore[type-arg]  # Django's takes no arguments at run time.
    """Attributes what a form stores to its user, and shows on pages of `Writers` who wrote the row."""

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        # Django saves a form with its inlines in one transaction, which begins before.
        attribute_to(admin_user(request))
        super().save_model(request, obj, form, change)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        fields = super().get_fields(request, obj)
        return [*fields, "written"] if isinstance(obj, Writers) and "written" not in fields else fields

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        fields = super().get_readonly_fields(request, obj)
        return [*fields, "written"] if isinstance(obj, Writers) else fields

    @admin.display(description="written")
    def written(self, row: Any) -> SafeString:
        first = (row.created_by, getattr(row, "created_at", None) or getattr(row, "created", None))
        last = (row.modified_by, getattr(row, "modified_at", None) or getattr(row, "updated", None))
        lines = (
            (what, timestamp(at) if at else "", by) for what, (by, at) in {"First": first, "Last": last}.items() if by
        )
        return format_html_join("", "{}: {} by {}<br>", lines) or SafeString("by an earlier version")


def name_of(row_id: int | None) -> str | None:
    """The name of the client with this primary key; None without a client."""
    return None if row_id is None else _name(row_id)


@cached(TTLCache(_MOST, _SECONDS))
def _name(row_id: int) -> str | None:
    name: str | None = ApiClient.objects.filter(pk=row_id).values_list("name", flat=True).first()
    return name
