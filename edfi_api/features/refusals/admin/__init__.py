"""The ledger of refusals in the admin. Importing the module registers its pages."""

from edfi_api.features.refusals.admin.refusal_admin import RefusalAdmin

__all__ = ["RefusalAdmin"]
