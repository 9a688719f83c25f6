"""Names of modules that version 1.0.0 documented, or that its migrations import."""

from importlib import import_module

import pytest

from edfi_api.features.changes.change_stream.handlers import on_change
from edfi_api.features.validation.rule import RuleViolation


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("edfi_api.changes.change_stream.handlers", "on_change"),
        ("edfi_api.exchange.push.remedies", "remedy"),
        ("edfi_api.management_api.scopes", "Scope"),
        ("edfi_api.security.names", "validate_name"),
        ("edfi_api.validation.handling", "on_validation"),
        ("edfi_api.validation.rule_files", "rule"),
        ("edfi_api.write_rules", "on_write"),
    ],
)
def test_a_name_of_1_0_0_can_be_imported(module: str, name: str) -> None:
    assert hasattr(import_module(module), name)


def test_a_class_has_one_identity_under_both_names() -> None:
    """A rule that raises the one of the old name is caught by code that names the new one."""
    assert import_module("edfi_api.validation.rule").RuleViolation is RuleViolation
    assert import_module("edfi_api.changes.change_stream.handlers").on_change is on_change


def test_what_has_never_been_there_is_missing_under_its_own_name() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"edfi_api\.documents"):
        import_module("edfi_api.documents")
