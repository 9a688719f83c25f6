"""The search of the admin among results of validation."""

from datetime import timedelta

import pytest
from django.utils import timezone

from edfi_api.features.validation.models import ValidationDismissal, ValidationResult
from tests.features.validation.conftest import rules, student
from tests.features.validation.rules import STUDENTS
from tests.site.search.conftest import found

__all__ = ["rules"]


@pytest.fixture
def result(rules, committing_api) -> ValidationResult:
    """A violation about the only student, Mae Ortiz."""
    rules.write("s1.sql", STUDENTS)
    student(committing_api, "1")
    rules.run()
    return ValidationResult.objects.get()


def test_open_findings_are_found_by_names_numbers_and_ids_with_the_permission(steward, user_with, result):
    for text in ("ortiz", "1", str(result.document_uuid), str(result.result_uuid), "NK#studentUniqueId=1"):
        assert found(steward, text).get("Findings") == [result.message], text
    analyst = user_with("view_validationresult")
    assert found(analyst, "1") == {"Findings": [result.message]}
    assert "Findings" not in found(user_with("view_document"), "1")
    assert found(analyst, "ortiz") == {}

    today = timezone.localdate()
    ValidationDismissal.objects.create(
        result_key=result.result_key, reason="Known.", until=today + timedelta(days=1), username="steward"
    )

    assert "Findings" not in found(steward, "1")
