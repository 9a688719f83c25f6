"""Admin pages for rules, runs and results of validation. Importing the modules registers them."""

from edfi_api.features.validation.admin.results import ValidationResultAdmin
from edfi_api.features.validation.admin.rules import ValidationRuleAdmin, ValidationRunAdmin

__all__ = ["ValidationResultAdmin", "ValidationRuleAdmin", "ValidationRunAdmin"]
