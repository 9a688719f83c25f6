"""Admin pages for the models of the core. Importing the modules registers their pages."""

from edfi_api.site.admin import data_stores, documents, profiles, security

__all__ = ["data_stores", "documents", "profiles", "security"]
