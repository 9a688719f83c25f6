"""The ledger of refusals in the admin. Importing the module registers its pages."""

from .refusals import RefusalAdmin

__all__ = ["RefusalAdmin"]
