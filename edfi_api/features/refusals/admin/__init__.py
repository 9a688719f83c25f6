"""The ledger of refusals in the admin. Importing the module registers its pages."""

from edfi_api.features.refusals.admin.refusals import RefusalAdmin

__all__ = ["RefusalAdmin"]
