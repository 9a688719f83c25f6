"""The table of what the district is made of.

This table, the drafts that it names, and the mistakes are the only code with names of resources. They are names of the
bundled data standards: members that a standard lacks are left out of a draft, its model adds what it requires, and
a code value that a standard lacks is replaced by another one of the same descriptor.
"""

from edfi_api.features.loading.demo_district import schools, students
from edfi_api.features.loading.demo_district.place import DISTRICT, DraftRow

# Each row stands below the one that it belongs to, and below those that it refers to.
PARTS = (
    DraftRow("LocalEducationAgency", DISTRICT, schools.agency),
    DraftRow("Program", "LocalEducationAgency", schools.program),
    DraftRow("School", "LocalEducationAgency", schools.schools),
    DraftRow("Calendar", "School", schools.calendar),
    DraftRow("CalendarDate", "Calendar", schools.calendar_dates),
    DraftRow("GradingPeriod", "School", schools.grading_periods),
    DraftRow("Session", "School", schools.sessions),
    DraftRow("Course", "School", schools.courses),
    DraftRow("CourseOffering", "Course", schools.offerings),
    DraftRow("Section", "CourseOffering", schools.sections),
    DraftRow("Staff", "School", schools.staff),
    DraftRow("StaffEducationOrganizationEmploymentAssociation", "Staff", schools.employment),
    DraftRow("StaffEducationOrganizationAssignmentAssociation", "Staff", schools.assignment),
    DraftRow("StaffSchoolAssociation", "Staff", schools.school_of_staff),
    DraftRow("StaffSectionAssociation", "Section", schools.teacher),
    DraftRow("Student", "School", students.students),
    DraftRow("StudentSchoolAssociation", "Student", students.enrollment),
    DraftRow("StudentEducationOrganizationAssociation", "Student", students.demographics_and_address),
    DraftRow("StudentDemographic", "Student", students.demographics, is_of_newer_standards=True),
    DraftRow("StudentDirectory", "Student", students.address, is_of_newer_standards=True),
    DraftRow("Contact", "Student", students.contacts, older_name="Parent"),
    DraftRow("StudentContactAssociation", "Contact", students.family, older_name="StudentParentAssociation"),
    DraftRow("StudentSectionAssociation", "Section", students.classes),
    DraftRow("Grade", "StudentSectionAssociation", students.marks),
    DraftRow("StudentSchoolAttendanceEvent", "Student", students.attendance),
    DraftRow("StudentSpecialEducationProgramAssociation", "Student", students.special_education),
    DraftRow("DisciplineIncident", "School", students.incidents),
    DraftRow("StudentDisciplineIncidentBehaviorAssociation", "DisciplineIncident", students.behavior),
)
