"""Rules written to files, and the commands that check and run them."""

from contextlib import suppress
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

STUDENTS = """/*
identifier = "S-1"
source = "tests"
version = "1"
short = "The student has no middle name"
severity = "minor"
category = "Students"
resource = "ed-fi/students"
[incremental]
scope = "student"
watch = ["ed-fi/students"]
*/
SELECT d.id AS document_id, 1 AS education_organization_id
  FROM documents('ed-fi/students') d
 WHERE NOT d.body ? 'middleName' AND (:scope IS NULL OR d.student = ANY (:scope))
"""
HEAD = """/*
identifier = "{identifier}"
source = "tests"
version = "1"
short = "{identifier} is violated"
severity = "{severity}"
category = "{category}"
resource = "{resource}"
*/
"""
ENROLLMENTS = "ed-fi/studentSchoolAssociations"
EACH = "SELECT id AS document_id, jsonb_build_object('entryDate', body ->> 'entryDate') AS context FROM documents('{}')"
PAIRS = """
SELECT a.id AS document_id, b.organization::text AS key, ARRAY[b.id] AS other_document_ids
  FROM documents('{0}') a JOIN documents('{0}') b ON a.student = b.student AND a.id <> b.id
"""


class Rules:
    """A folder of rules, and the commands that check and run them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.write_text(text)
        return path

    def run(self, *arguments: str) -> str:
        out = StringIO()
        call_command("run_validation", *arguments, stdout=out, stderr=out)
        return out.getvalue()

    def run_with_failures(self, *arguments: str) -> str:
        out = StringIO()
        with pytest.raises(CommandError):
            call_command("run_validation", *arguments, stdout=out, stderr=out)
        return out.getvalue()

    def check(self, *arguments: str) -> list[str]:
        """The problems, without the folder."""
        out = StringIO()
        with suppress(CommandError):
            call_command("check_rules", *arguments, stdout=out, stderr=out)
        return [line.removeprefix(f"{self.folder}/") for line in out.getvalue().splitlines()]


def write(rules: Rules, identifier: str, query: str, resource: str = ENROLLMENTS, **members: str) -> None:
    """Write a rule of severity minor, with another head by `members`; its query names the resource as `{}`."""
    head = HEAD.format(identifier=identifier, resource=resource, **{"severity": "minor", "category": "c", **members})
    rules.write(f"{identifier.lower()}.sql", head + query.format(resource))
