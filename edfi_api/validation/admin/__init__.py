"""Admin pages for rules, runs and results of validation. Importing the modules registers them."""

from .results import ValidationResultAdmin, results_of
from .rules import ValidationRuleAdmin, ValidationRunAdmin

__all__ = ["ValidationResultAdmin", "ValidationRuleAdmin", "ValidationRunAdmin", "results_of"]
