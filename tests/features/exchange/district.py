"""A small district in a reference source."""

from typing import Any

from tests.features.exchange.reference_source import ReferenceSource

ED_FI = "uri://ed-fi.org"
CATEGORY = f"{ED_FI}/EducationOrganizationCategoryDescriptor#School"
GRADE = f"{ED_FI}/GradeLevelDescriptor#Ninth grade"


class District:
    """Documents of a district in a source."""

    def __init__(self, source: ReferenceSource) -> None:
        self.source = source

    def descriptors(self) -> None:
        for name, code in (("educationOrganizationCategory", "School"), ("gradeLevel", "Ninth grade")):
            kind = name[0].upper() + name[1:] + "Descriptor"
            body = {"namespace": f"{ED_FI}/{kind}", "codeValue": code, "shortDescription": code}
            self.source.put(f"ed-fi/{name}Descriptors", body)

    def school(self, number: int = 1, **changes: Any) -> Any:
        body = {
            "schoolId": number,
            "nameOfInstitution": f"School {number}",
            "educationOrganizationCategories": [{"educationOrganizationCategoryDescriptor": CATEGORY}],
            "gradeLevels": [{"gradeLevelDescriptor": GRADE}],
        }
        return self.source.put("ed-fi/schools", body | changes)

    def student(self, number: int, **changes: Any) -> Any:
        body = {
            "studentUniqueId": f"S{number}",
            "firstName": "Mae",
            "lastSurname": "Ortiz",
            "birthDate": "2010-02-03",
        }
        return self.source.put("ed-fi/students", body | changes)

    def enrollment(self, student: int, school: int = 1, **changes: Any) -> Any:
        link = {"rel": "School", "href": f"/ed-fi/schools/{school}"}
        body = {
            "schoolReference": {"schoolId": school, "link": link},
            "studentReference": {"studentUniqueId": f"S{student}"},
            "entryDate": "2025-08-20",
            "entryGradeLevelDescriptor": GRADE,
        }
        return self.source.put("ed-fi/studentSchoolAssociations", body | changes)

    def period(self, name: str, school: int = 1) -> dict[str, Any]:
        return {"classPeriodName": name, "schoolReference": {"schoolId": school}}

    def bells(self, name: str, *periods: str, school: int = 1) -> dict[str, Any]:
        referred = [{"classPeriodReference": {"schoolId": school, "classPeriodName": each}} for each in periods]
        return {"bellScheduleName": name, "schoolReference": {"schoolId": school}, "classPeriods": referred}

    def everything(self, students: int = 3) -> None:
        """Enrollments first, so that the order of versions is not that of references."""
        for number in range(students):
            self.enrollment(number)
        for number in range(students):
            self.student(number)
        self.descriptors()
        self.school()
