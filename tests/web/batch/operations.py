"""Operations of batches: a write of a document, whose members can be changed by name."""

from typing import Any

ED_FI = "uri://ed-fi.org"


def descriptor(resource: str, code_value: str, **members: Any) -> dict[str, Any]:
    document = {"namespace": f"{ED_FI}/{resource}", "codeValue": code_value, "shortDescription": code_value}
    return {"resource": resource, "document": document} | members


def student(number: int, **changes: Any) -> dict[str, Any]:
    document = {
        "studentUniqueId": f"S{number}",
        "birthDate": "2010-01-13",
        "firstName": "Mae",
        "lastSurname": "Ortiz",
    }
    return {"resource": "/ed-fi/students", "document": document | changes}


def school(number: int, **changes: Any) -> dict[str, Any]:
    document = {
        "schoolId": number,
        "nameOfInstitution": f"School {number}",
        "educationOrganizationCategories": [
            {"educationOrganizationCategoryDescriptor": f"{ED_FI}/EducationOrganizationCategoryDescriptor#School"}
        ],
        "gradeLevels": [{"gradeLevelDescriptor": f"{ED_FI}/GradeLevelDescriptor#Ninth grade"}],
    }
    return {"resource": "/ed-fi/schools", "document": document | changes}


def period(name: str, number: int = 1, **changes: Any) -> dict[str, Any]:
    document = {"classPeriodName": name, "schoolReference": {"schoolId": number}}
    return {"resource": "/ed-fi/classPeriods", "document": document | changes}


def enrolment(number: int, school_number: int = 1, **changes: Any) -> dict[str, Any]:
    document = {
        "studentReference": {"studentUniqueId": f"S{number}"},
        "schoolReference": {"schoolId": school_number},
        "entryDate": "2025-08-20",
        "entryGradeLevelDescriptor": f"{ED_FI}/GradeLevelDescriptor#Ninth grade",
    }
    return {"resource": "/ed-fi/studentSchoolAssociations", "document": document | changes}


DESCRIPTORS = [
    descriptor("EducationOrganizationCategoryDescriptor", "School"),
    descriptor("GradeLevelDescriptor", "Ninth grade"),
]
