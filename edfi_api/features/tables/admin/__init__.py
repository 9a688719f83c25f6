"""Tables in the admin: upload, columns, documents, report. Importing the module registers the pages."""

from edfi_api.features.tables.admin.table_admin import TableLoadAdmin

__all__ = ["TableLoadAdmin"]
