"""A small district to load: descriptors, agencies, schools, and what happens in them."""

import gzip
from contextlib import nullcontext
from typing import Any

import orjson
import pytest
from django.core.management import CommandError, call_command

from edfi_api.core.storage.integrity import disagreements
from edfi_api.features.loading.bulk import Candidate, write_documents

ED_FI = "uri://ed-fi.org"
CATEGORY = f"{ED_FI}/EducationOrganizationCategoryDescriptor#School"
GRADE = f"{ED_FI}/GradeLevelDescriptor#Ninth grade"
AGENCY_CATEGORY = f"{ED_FI}/LocalEducationAgencyCategoryDescriptor#Regular"


class District:
    """Candidates of a few resources, by what distinguishes them."""

    def __init__(self, resource_named) -> None:
        self._resource_named = resource_named

    def candidate(self, resource: str, body: dict[str, Any], origin: str = "") -> Candidate:
        return Candidate.of(self._resource_named(resource), body, origin)

    def descriptor(self, resource: str, code_value: str, **changes: Any) -> Candidate:
        body = {"namespace": f"{ED_FI}/{resource}", "codeValue": code_value, "shortDescription": code_value}
        return self.candidate(resource, body | changes)

    def descriptors(self) -> list[Candidate]:
        """What the documents below refer to."""
        return [
            self.descriptor("EducationOrganizationCategoryDescriptor", "School"),
            self.descriptor("GradeLevelDescriptor", "Ninth grade"),
            self.descriptor("LocalEducationAgencyCategoryDescriptor", "Regular"),
        ]

    def agency(self, number: int, parent: int | None = None, **changes: Any) -> Candidate:
        body: dict[str, Any] = {
            "localEducationAgencyId": number,
            "nameOfInstitution": f"Agency {number}",
            "categories": [{"educationOrganizationCategoryDescriptor": CATEGORY}],
            "localEducationAgencyCategoryDescriptor": AGENCY_CATEGORY,
        }
        if parent is not None:
            body["parentLocalEducationAgencyReference"] = {"localEducationAgencyId": parent}
        return self.candidate("LocalEducationAgency", body | changes)

    def school(self, number: int, grade: str = GRADE, agency: int | None = None, **changes: Any) -> Candidate:
        body: dict[str, Any] = {
            "schoolId": number,
            "nameOfInstitution": f"School {number}",
            "educationOrganizationCategories": [{"educationOrganizationCategoryDescriptor": CATEGORY}],
            "gradeLevels": [{"gradeLevelDescriptor": grade}],
        }
        if agency is not None:
            body["localEducationAgencyReference"] = {"localEducationAgencyId": agency}
        return self.candidate("School", body | changes)

    def period(self, name: str, school: int = 1, **changes: Any) -> Candidate:
        body = {"classPeriodName": name, "schoolReference": {"schoolId": school}}
        return self.candidate("ClassPeriod", body | changes)

    def schedule(self, name: str, *periods: str, school: int = 1, **changes: Any) -> Candidate:
        body = {
            "bellScheduleName": name,
            "schoolReference": {"schoolId": school},
            "classPeriods": [
                {"classPeriodReference": {"classPeriodName": period, "schoolId": school}} for period in periods
            ],
        }
        return self.candidate("BellSchedule", body | changes)


@pytest.fixture(scope="session")
def district(resource_named) -> District:
    return District(resource_named)


@pytest.fixture
def load(db, district, validators, capsys, tmp_path):
    """Runs the command behind the district's descriptors; what it wrote on the screen. It may fail with the `expected`
    reason. All rows must agree then."""
    list(write_documents(district.descriptors()))

    def run(*arguments, expected=None, **options):
        try:
            with pytest.raises(CommandError) if expected else nullcontext() as failed:
                call_command("load_documents", *map(str, arguments or [tmp_path]), **options)
        finally:
            assert list(disagreements(validators, "default")) == []
        assert expected is None or str(failed.value) == expected
        return capsys.readouterr()

    run.folder = tmp_path
    return run


@pytest.fixture
def write(tmp_path):
    def write_lines(name, *lines):
        path = tmp_path / name
        text = b"".join((line if isinstance(line, bytes) else orjson.dumps(line)) + b"\n" for line in lines)
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
        return path

    return write_lines
