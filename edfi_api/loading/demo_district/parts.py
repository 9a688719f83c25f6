"""The table of what the district is made of.

Apart from the drafts that it names, and the mistakes, nothing knows a resource by its name. The names are those of both
bundled data standards: of the members of a draft, a standard takes those that it has, and its model adds what it
requires beyond; descriptors are code values, replaced by another one where a standard lacks them.
"""

from edfi_api.loading.demo_district import schools, students
from edfi_api.loading.demo_district.place import DISTRICT, Part

# Each row stands below the one that it belongs to, and below those that it refers to.
PARTS = (
    Part("LocalEducationAgency", DISTRICT, schools.agency),
    Part("Program", "LocalEducationAgency", schools.program),
    Part("School", "LocalEducationAgency", schools.schools),
    Part("Calendar", "School", schools.calendar),
    Part("CalendarDate", "Calendar", schools.calendar_dates),
    Part("GradingPeriod", "School", schools.grading_periods),
    Part("Session", "School", schools.sessions),
    Part("Course", "School", schools.courses),
    Part("CourseOffering", "Course", schools.offerings),
    Part("Section", "CourseOffering", schools.sections),
    Part("Staff", "School", schools.staff),
    Part("StaffEducationOrganizationEmploymentAssociation", "Staff", schools.employment),
    Part("StaffEducationOrganizationAssignmentAssociation", "Staff", schools.assignment),
    Part("StaffSectionAssociation", "Section", schools.teacher),
    Part("Student", "School", students.students),
    Part("StudentSchoolAssociation", "Student", students.enrollment),
    Part("StudentEducationOrganizationAssociation", "Student", students.demographics),
    Part("Contact", "Student", students.contacts, older_name="Parent"),
    Part("StudentContactAssociation", "Contact", students.family, older_name="StudentParentAssociation"),
    Part("StudentSectionAssociation", "Section", students.classes),
    Part("Grade", "StudentSectionAssociation", students.marks),
    Part("StudentSchoolAttendanceEvent", "Student", students.attendance),
    Part("StudentSpecialEducationProgramAssociation", "Student", students.special_education),
    Part("DisciplineIncident", "School", students.incidents),
    Part("StudentDisciplineIncidentBehaviorAssociation", "DisciplineIncident", students.behavior),
)
