"""The admin pages of the models of the core, which Django finds here: importing their modules registers them."""

from edfi_api.site.model_admins import data_stores, documents, profiles, security

__all__ = ["data_stores", "documents", "profiles", "security"]
