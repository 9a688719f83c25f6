"""Readers of SQL views in the admin."""

from django.contrib import admin

from edfi_api.analysis.sql_views.models import SqlReader
from edfi_api.security.admin import OneByOneAdmin


@admin.register(SqlReader)
class SqlReaderAdmin(OneByOneAdmin):
    """Which rows each role sees; a change applies to its next query."""

    list_display = ["role", "organization"]
    list_filter = ["role"]
    search_fields = ["role", "organization"]
    ordering = ["role", "organization"]
