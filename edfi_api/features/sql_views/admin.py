"""Readers of SQL views in the admin."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from edfi_api.features.sql_views.models import SqlReader
from edfi_api.web.admin_kit.deletion import OneByOneAdmin
from edfi_api.web.admin_kit.store_choice import OfDataStoreAdmin, shown_in


@admin.register(SqlReader)
class SqlReaderAdmin(OfDataStoreAdmin, OneByOneAdmin):
    """The page of the rows that each role sees; a change applies to its next query."""

    list_display = ["role", "organization"]
    list_filter = ["role"]
    search_fields = ["role", "organization"]
    ordering = ["role", "organization"]

    def save_model(self, request: HttpRequest, obj: SqlReader, form: Any, change: bool) -> None:
        obj.save(using=shown_in(request).using)
