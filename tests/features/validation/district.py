"""A district with violations of every bundled rule, and with what almost violates them."""

from datetime import date, timedelta
from random import Random
from typing import Any

from edfi_api.common.conf import api_settings
from tests.conftest import ApiTestClient
from tests.support.factories import DocumentFactory

TODAY = date.today()  # noqa: DTZ011  Days of the tests need no time zone.
YESTERDAY, TOMORROW = TODAY - timedelta(days=1), TODAY + timedelta(days=1)
LONG_AGO = TODAY - timedelta(days=400)
YEAR = 2026
REVIEW = "iepLastReviewDate" if api_settings.DATA_STANDARD == "6.1" else "iepReviewDate"


class District:
    """Two schools, the first below a district, and what happens there. Each write returns the path of its document."""

    def __init__(self, api: ApiTestClient, documents: DocumentFactory, resource_named: Any) -> None:
        self.api, self._documents, self._named = api, documents, resource_named
        self.write("LocalEducationAgency", localEducationAgencyId=7)
        for school, above in ((77, {"localEducationAgencyReference": {"localEducationAgencyId": 7}}), (88, {})):
            self.write("School", schoolId=school, **above)
        self.left = self.descriptor("ExitWithdrawType", "Transferred")

    def write(self, name: str, **members: Any) -> str:
        resource = self._named(name)
        body = self._documents.minimal_body(resource, **members)
        self._documents.store_targets(resource, self._documents.minimal_body(resource))
        answer = self.api.post(f"/{resource.endpoint}", body)
        assert answer.status_code in (200, 201), answer.content
        return f"/{resource.endpoint}/{answer['Location'].rpartition('/')[2]}"

    def descriptor(self, name: str, code: str) -> str:
        namespace = f"uri://ed-fi.org/{name}Descriptor"
        self.write(f"{name}Descriptor", namespace=namespace, codeValue=code, shortDescription=code)
        return f"{namespace}#{code}"

    def enroll(self, student: str, first: Any, last: Any = None, school: int = 77, **members: Any) -> str:
        self.write("Student", studentUniqueId=student)
        exit_ = {} if last is None else {"exitWithdrawDate": str(last), "exitWithdrawTypeDescriptor": self.left}
        given = {"entryDate": str(first), **exit_, **members}
        return self.write("StudentSchoolAssociation", schoolReference={"schoolId": school}, **_of(student), **given)

    def demographics(self, student: str, organization: int = 7, **members: Any) -> str:
        where = {"educationOrganizationReference": {"educationOrganizationId": organization}}
        is_6_1 = api_settings.DATA_STANDARD == "6.1"
        name = "StudentDemographic" if is_6_1 else "StudentEducationOrganizationAssociation"
        return self.write(name, **_of(student), **where, **members)

    def session(self, name: str, first: Any, last: Any, school: int = 77) -> None:
        where = {"schoolReference": {"schoolId": school}, "schoolYearTypeReference": {"schoolYear": YEAR}}
        self.write("Session", sessionName=name, beginDate=str(first), endDate=str(last), **where)

    def attendance(self, student: str, day: str, school: int = 77) -> str:
        session = {"schoolId": school, "schoolYear": YEAR, "sessionName": "Past"}
        where = {"schoolReference": {"schoolId": school}, "sessionReference": session}
        return self.write("StudentSchoolAttendanceEvent", eventDate=day, **_of(student), **where)

    def calendar_day(self, code: str, day: str, event: str) -> str:
        calendar = {"calendarCode": code, "schoolId": 77, "schoolYear": YEAR}
        self.write(
            "Calendar",
            calendarCode=code,
            schoolReference={"schoolId": 77},
            schoolYearTypeReference={"schoolYear": YEAR},
        )
        events = [{"calendarEventDescriptor": event}]
        return self.write("CalendarDate", calendarReference=calendar, date=day, calendarEvents=events)

    def section(self, identifier: str, session: str) -> dict[str, Any]:
        offering = {"localCourseCode": "C", "schoolId": 77, "schoolYear": YEAR, "sessionName": session}
        self.write("Course", courseCode="C", educationOrganizationReference={"educationOrganizationId": 77})
        self.write(
            "CourseOffering",
            localCourseCode="C",
            courseReference={"courseCode": "C", "educationOrganizationId": 77},
            schoolReference={"schoolId": 77},
            sessionReference={"schoolId": 77, "schoolYear": YEAR, "sessionName": session},
        )
        self.write("Section", sectionIdentifier=identifier, courseOfferingReference=offering)
        return {"sectionReference": {**offering, "sectionIdentifier": identifier}}

    def assign(self, student: str, section: dict[str, Any], first: Any, last: Any = None) -> str:
        end = {} if last is None else {"endDate": str(last)}
        return self.write("StudentSectionAssociation", beginDate=str(first), **_of(student), **section, **end)

    def teach(self, section: dict[str, Any], first: Any, last: Any) -> str:
        self.write("Staff", staffUniqueId="T")
        who = {"staffReference": {"staffUniqueId": "T"}}
        return self.write("StaffSectionAssociation", beginDate=str(first), endDate=str(last), **who, **section)

    def program(self, student: str, organization: int = 7, **members: Any) -> str:
        type_ = self.descriptor("ProgramType", "Special Education")
        program = {"educationOrganizationId": 7, "programName": "P", "programTypeDescriptor": type_}
        where = {"educationOrganizationReference": {"educationOrganizationId": 7}}
        self.write("Program", programName="P", programTypeDescriptor=type_, **where)
        given = {name: str(value) for name, value in members.items()}
        return self.write(
            "StudentSpecialEducationProgramAssociation",
            beginDate=str(LONG_AGO),
            programReference=program,
            educationOrganizationReference={"educationOrganizationId": organization},
            **_of(student),
            **given,
        )


def _of(student: str) -> dict[str, Any]:
    return {"studentReference": {"studentUniqueId": student}}


def enrollment(district: District) -> list[str]:
    """EN-101 to EN-104; the documents by whose removal all violations are repaired."""
    district.enroll("101", "2024-01-10", "2024-03-01")
    wrong = [district.enroll("101", "2024-03-01", "2024-05-01")]
    district.enroll("101 no", "2024-01-10", "2024-02-29")
    district.enroll("101 no", "2024-03-01", "2024-05-01")
    wrong.append(district.enroll("102", "2024-05-02", "2024-05-01"))
    district.enroll("102 no", "2024-05-01", "2024-05-01")
    district.enroll("103", "2024-01-01", "2024-03-01")
    wrong.append(district.enroll("103", "2024-02-29", "2024-05-01", school=88))
    district.enroll("103 no", "2024-01-01", "2024-03-01")
    district.enroll("103 no", "2024-03-01", "2024-05-01", school=88)
    district.enroll("103 not primary", "2024-01-01", "2024-03-01")
    district.enroll("103 not primary", "2024-01-01", "2024-03-01", school=88, primarySchool=False)
    wrong.append(district.enroll("104", "2024-01-01", exitWithdrawDate="2024-03-01"))
    return wrong


def attendance(district: District) -> list[str]:
    """AT-201 and AT-202."""
    for school in (77, 88):
        district.session("Past", "2024-01-01", "2024-06-30", school)
    instruction = district.descriptor("CalendarEvent", "Instructional day")
    holiday = district.descriptor("CalendarEvent", "Holiday")
    district.calendar_day("C1", "2024-02-05", instruction)
    district.calendar_day("C1", "2024-02-06", holiday)
    district.calendar_day("C2", "2024-02-07", instruction)
    district.enroll("201", "2024-02-05", "2024-02-07")
    named = {"calendarReference": {"calendarCode": "C1", "schoolId": 77, "schoolYear": YEAR}}
    district.enroll("201 named", "2024-02-05", "2024-02-07", **named)
    district.enroll("201 elsewhere", "2024-02-05", "2024-02-07", school=88)
    district.attendance("201", "2024-02-05")
    district.attendance("201", "2024-02-07")
    district.attendance("201 named", "2024-02-05")
    district.attendance("201 elsewhere", "2024-02-06", school=88)
    wrong = [district.attendance("201", "2024-02-06"), district.attendance("201 named", "2024-02-07")]
    district.enroll("202", "2024-02-06", "2024-02-07")
    district.attendance("202", "2024-02-07")
    return [*wrong, district.attendance("202", "2024-02-05")]


def scheduling(district: District) -> list[str]:
    """SC-301 and SC-302."""
    district.session("Now", LONG_AGO, TODAY)
    district.session("Until yesterday", LONG_AGO, YESTERDAY)
    district.enroll("301", LONG_AGO)
    district.demographics("301", sexDescriptor=district.descriptor("Sex", "Female"), hispanicLatinoEthnicity=False)
    without_staff, with_staff, past_staff, empty, past = (
        district.section(name, "Until yesterday" if name == "past" else "Now")
        for name in ("without staff", "with staff", "past staff", "empty", "past")
    )
    wrong = [district.assign("301", section, LONG_AGO) for section in (without_staff, past_staff)]
    district.assign("301", with_staff, LONG_AGO, TODAY)
    district.assign("301", past, YESTERDAY)
    district.teach(with_staff, LONG_AGO, TODAY)
    district.teach(past_staff, LONG_AGO, YESTERDAY)
    district.teach(empty, LONG_AGO, YESTERDAY)
    district.enroll("302", "2024-01-01", "2024-02-01")
    district.assign("302", past, "2024-02-01", "2024-03-01")
    wrong.append(district.assign("302", past, "2024-02-02", "2024-03-01"))
    district.enroll("302 dates", LONG_AGO, TODAY)
    wrong += [district.assign("302 dates", past, TODAY), district.assign("302 dates", empty, YESTERDAY, LONG_AGO)]
    return [*wrong, *demographics(district, "302 dates")]


def demographics(district: District, complete: str) -> list[str]:
    """ST-401."""
    sex = district.descriptor("Sex", "Female")
    race = [{"raceDescriptor": district.descriptor("Race", "White")}]
    district.demographics(complete, sexDescriptor=sex, races=race)
    wrong = [district.enroll("401", YESTERDAY)]
    wrong.append(district.enroll("401 no race", TODAY, TODAY))
    district.demographics("401 no race", 77, sexDescriptor=sex)
    wrong.append(district.enroll("401 elsewhere", YESTERDAY, school=88))
    district.demographics("401 elsewhere", 7, sexDescriptor=sex, races=race)
    district.enroll("401 left", LONG_AGO, YESTERDAY)
    district.enroll("401 comes", TOMORROW)
    return wrong


def programs(district: District) -> list[str]:
    """PR-501."""
    sex = district.descriptor("Sex", "Female")
    for student in ("501", "501 no", "501 late"):
        district.enroll(student, LONG_AGO)
        district.demographics(student, sexDescriptor=sex, hispanicLatinoEthnicity=True)
    district.write("Student", studentUniqueId="501 away")
    district.program("501 no", iepBeginDate=YESTERDAY, iepEndDate=YESTERDAY, **{REVIEW: TODAY - timedelta(days=365)})
    ended = {"endDate": YESTERDAY, "iepBeginDate": TODAY, "iepEndDate": YESTERDAY}
    district.program("501 no", 77, **ended)
    return [
        district.program("501", iepBeginDate=TODAY, iepEndDate=YESTERDAY),
        district.program("501 late", **{REVIEW: TODAY - timedelta(days=366)}),
        district.program("501 away"),
    ]


class Life:
    """What changes in a district each day: attendance, calendars, sections, demographics and programs."""

    DELETED = (
        "studentSchoolAttendanceEvents",
        "calendarDates",
        "studentSectionAssociations",
        "staffSectionAssociations",
        "studentEducationOrganizationAssociations",
        "studentSpecialEducationProgramAssociations",
        "studentSchoolAssociations",
    )
    STUDENTS = ("A", "B")

    def __init__(self, district: District) -> None:
        self.district = district
        self.events = [district.descriptor("CalendarEvent", name) for name in ("Instructional day", "Holiday")]
        self.sex = district.descriptor("Sex", "Female")
        district.session("Past", "2024-01-01", "2024-06-30")
        district.session("Now", LONG_AGO, TODAY)
        self.sections = [district.section(name, "Now") for name in ("S1", "S2")]
        for day, event in zip(("05", "06", "07"), (*self.events, self.events[0]), strict=True):
            district.calendar_day("C1", f"2024-02-{day}", event)
        for student in self.STUDENTS:
            district.enroll(student, "2024-01-10")
            district.assign(student, self.sections[0], LONG_AGO)

    def change(self, chance: Random) -> None:
        """A random write or deletion."""
        student, section = chance.choice(self.STUDENTS), chance.choice(self.sections)
        day, today = f"2024-02-{chance.choice(('05', '06', '07'))}", chance.choice((YESTERDAY, TODAY))
        match chance.randint(0, 9):
            case 0 | 1:
                self.district.attendance(student, day)
            case 2:
                self.district.calendar_day("C1", day, chance.choice(self.events))
            case 3:
                self.district.assign(student, section, LONG_AGO, today)
            case 4:
                self.district.teach(section, LONG_AGO, today)
            case 5:
                known = {"sexDescriptor": self.sex} if chance.random() < 0.7 else {}
                self.district.demographics(student, chance.choice((7, 77)), hispanicLatinoEthnicity=True, **known)
            case 6:
                self.district.program(student, iepBeginDate=TODAY, iepEndDate=chance.choice((YESTERDAY, TOMORROW)))
            case 7:
                self.district.enroll(student, "2024-01-10", chance.choice((None, YESTERDAY)))
            case _:
                self._delete(chance)

    def _delete(self, chance: Random) -> None:
        endpoint = chance.choice(self.DELETED)
        if found := self.district.api.get(f"/{endpoint}?limit=100").json():
            assert self.district.api.delete(f"/{endpoint}/{chance.choice(found)['id']}").status_code == 204
