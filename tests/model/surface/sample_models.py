"""MetaEd texts of small models that several tests compile."""

SCHOOL_LIFE = """
Domain Entity School
  integer SchoolId is part of identity
Domain Entity Session
  string SessionName is part of identity
  domain entity School is part of identity
  enumeration SchoolYear is part of identity
Domain Entity CourseOffering
  string LocalCourseCode is part of identity
  domain entity School is part of identity
  domain entity Session is part of identity
    merge Session.School with School
Domain Entity Section
  string SectionIdentifier is part of identity
  domain entity CourseOffering is part of identity
Domain Entity Student
  shared string UniqueId is part of identity role name Student
Association StudentSectionAssociation
  domain entity Student
  domain entity Section
  date BeginDate is part of identity
Domain Entity GradingPeriod
  descriptor GradingPeriod is part of identity
  domain entity School is part of identity
  enumeration SchoolYear is part of identity
Domain Entity Grade
  descriptor GradeType is part of identity
  association StudentSectionAssociation is part of identity
  domain entity GradingPeriod is part of identity role name GradingPeriod
    merge GradingPeriod.School with StudentSectionAssociation.Section.CourseOffering.School
Domain Entity ReportCard
  domain entity Student is part of identity
  domain entity GradingPeriod is part of identity role name GradingPeriod
  domain entity Grade is optional collection
    merge Grade.StudentSectionAssociation.Student with Student
    merge Grade.GradingPeriod with GradingPeriod
Shared String UniqueId max length 32
Descriptor GradingPeriod
Descriptor GradeType
Enumeration SchoolYear
  item "2025-2026"
"""

ROLES = """
Domain Entity Alpha
  string AlphaCode is part of identity role name Local
  domain entity Section is part of identity role name Host
Domain Entity Beta
  domain entity Alpha is part of identity role name First
Domain Entity Ride
  domain entity Bus is part of identity role name Primary
Domain Entity Card
  domain entity GradingPeriod is part of identity role name GradingPeriod
Domain Entity Bus
  string BusId is part of identity
Domain Entity User
  string UserCode is part of identity
  domain entity Alpha is optional
  domain entity Beta is optional
  domain entity Ride is optional
  domain entity Card is optional
"""

ORGANIZATIONS = """
Abstract Entity EducationOrganization
  integer EducationOrganizationId is part of identity
  string NameOfInstitution is required
Domain Entity School based on EducationOrganization
  integer SchoolId renames identity property EducationOrganizationId
  string Motto is optional
Domain Entity Course
  string CourseCode is part of identity
  domain entity EducationOrganization is part of identity
"""

PROGRAMS = """
Domain Entity Student
  string StudentCode is part of identity
Domain Entity Program
  string ProgramName is part of identity
Association GeneralStudentProgramAssociation
  domain entity Student
  domain entity Program
  date EndDate is optional
Association StudentCTEProgramAssociation based on GeneralStudentProgramAssociation
  bool Graduated is optional
Domain Entity Visit
  string VisitCode is part of identity
  association GeneralStudentProgramAssociation is optional
"""

BUS_ROUTE = """
Domain Entity BusRoute
  string BusRouteNumber is part of identity max length 12
  common BusRouteStop is optional collection
Common BusRouteStop
  string StopCode is part of identity
  domain entity School is required
  enumeration SchoolYear is required
  descriptor Language is required collection
  common StopWindow is optional collection
Common StopWindow
  time BeginTime is part of identity
Domain Entity School
  integer SchoolId is part of identity
Descriptor Language
Enumeration SchoolYear
  item "2025-2026"
"""
