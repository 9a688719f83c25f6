"""The table of what the district is made of.

This table, the drafts that it names, and the mistakes are the only code with names of resources. They are names of the
bundled data standards: members that a standard lacks are left out of a draft, its model adds what it requires, and
a code value that a standard lacks is replaced by another one of the same descriptor.
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
    Part("StudentEducationOrganizationAssociation", "Student", students.demographics_and_address),
    Part("StudentDemographic", "Student", students.demographics, is_of_newer_standards=True),
    Part("StudentDirectory", "Student", students.address, is_of_newer_standards=True),
    Part("Contact", "Student", students.contacts, older_name="Parent"),
    Part("StudentContactAssociation", "Contact", students.family, older_name="StudentParentAssociation"),
    Part("StudentSectionAssociation", "Section", students.classes),
    Part("Grade", "StudentSectionAssociation", students.marks),
    Part("StudentSchoolAttendanceEvent", "Student", students.attendance),
    Part("StudentSpecialEducationProgramAssociation", "Student", students.special_education),
    Part("DisciplineIncident", "School", students.incidents),
    Part("StudentDisciplineIncidentBehaviorAssociation", "DisciplineIncident", students.behavior),
)
