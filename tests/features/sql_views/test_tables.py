"""Which tables a model has, and their columns in order with keys, types and nullability."""

import pytest

from edfi_api.features.sql_views.tables import UnusableNames
from tests.features.sql_views.models import model_columns

CORE = """
Shared String UniqueId max length 32
Enumeration SchoolYear
  item "2025-2026"
Descriptor Colour

Domain Entity Bus
  string BusId is part of identity
  domain entity Depot is part of identity role name Home
  inline common Engine is optional role name Spare
  choice Fuel is required
  decimal IEFactor is optional
  date IceDate is optional
  descriptor Colour is required collection role name Outer
  string BusNote is optional collection
  domain entity Driver is optional collection role name BusSpare
Inline Common Engine
  integer EngineNumber is required
  descriptor Colour is optional
Choice Fuel
  currency FuelPrice is required
  percent FuelShare is required
Domain Entity Driver
  shared string UniqueId is part of identity role name Driver
  date BirthDate is optional
Abstract Entity EducationOrganization
  integer EducationOrganizationId is part of identity
  common Badge is optional collection
Common Badge
  short BadgeNumber is part of identity
  common BadgePeriod is optional collection
Common BadgePeriod
  date BeginDate is part of identity
  date EndDate is optional
Domain Entity Depot based on EducationOrganization
  integer DepotId renames identity property EducationOrganizationId
  bool IsHeated is optional
Association BusDriverAssociation
  domain entity Bus
  domain entity Driver
  enumeration SchoolYear is part of identity
  date BeginDate is required
  domain entity Depot is required role name Night
  common BusInspection is optional
Common BusInspection
  string InspectionCode is part of identity
Association BusNightDriverAssociation based on BusDriverAssociation
  time ShiftBegin is required
"""
SAMPLE = """
Domain Entity EdFi.Bus additions
  year FirstYear is required
  string Ticket is optional
  common Ticket is optional collection
Common Ticket
  integer TicketNumber is part of identity
"""


@pytest.fixture
def tables(tables_of) -> dict[str, list[str]]:
    sample = SAMPLE.replace("  string Ticket is optional\n", "")
    return tables_of(CORE, Sample=sample)


@pytest.mark.parametrize(
    ("table", "columns"),
    [
        (
            "edfi.bus",
            "*busid, *homedepotid, fuelprice?, fuelshare?, icedate?, iefactor?, sparecolourdescriptorid?,"
            " spareenginenumber?",
        ),
        ("edfi.busoutercolour", "*busid, *homedepotid, *colourdescriptorid"),
        ("edfi.busnote", "*busid, *homedepotid, *busnote"),
        ("edfi.busbussparedriver", "*busid, *homedepotid, *bussparedriverusi"),
        ("edfi.driver", "*driverusi, birthdate?, driveruniqueid"),
        ("edfi.educationorganization", "*educationorganizationid"),
        ("edfi.educationorganizationbadge", "*educationorganizationid, *badgenumber"),
        ("edfi.educationorganizationbadgeperiod", "*educationorganizationid, *badgenumber, *begindate, enddate?"),
        ("edfi.busdriverassociation", "*busid, *driverusi, *homedepotid, *schoolyear, begindate, nightdepotid"),
        (
            "edfi.busdriverassociationbusinspection",
            "*busid, *driverusi, *homedepotid, *schoolyear, inspectioncode",
        ),
        ("sample.busextension", "*busid, *homedepotid, firstyear"),
        ("sample.busticket", "*busid, *homedepotid, *ticketnumber"),
    ],
)
def test_the_columns_of_a_table(tables, table: str, columns: str) -> None:
    assert model_columns(tables[table]) == columns


def test_a_subclass_has_its_own_columns_and_nothing_of_the_envelope(tables) -> None:
    assert tables["edfi.depot"] == ["*depotid int", "isheated boolean?"]
    assert tables["edfi.busnightdriverassociation"] == [
        "*busid varchar(60)",
        "*driverusi int",
        "*homedepotid int",
        "*schoolyear smallint",
        "shiftbegin time",
    ]


def test_a_descriptor_has_a_table_for_its_type_and_a_row_among_all(tables) -> None:
    assert tables["edfi.colourdescriptor"] == ["*colourdescriptorid int"]
    assert tables["edfi.descriptor"] == [
        "*descriptorid int",
        "namespace varchar(255)",
        "codevalue varchar(50)",
        "shortdescription varchar(75)",
        "description varchar(1024)?",
        "priordescriptorid int?",
        "effectivebegindate date?",
        "effectiveenddate date?",
        "discriminator varchar(128)",
        "uri varchar(306)",
        *ENVELOPE,
    ]


ENVELOPE = [
    "createdate timestamp",
    "lastmodifieddate timestamp",
    "id uuid",
    "aggregateid int",
    "aggregatedata bytea?",
    "changeversion bigint",
    "createdbyownershiptokenid smallint?",
]


def test_school_years_and_root_tables_have_the_envelope(tables) -> None:
    assert tables["edfi.schoolyeartype"] == [
        "*schoolyear smallint",
        "schoolyeardescription varchar(50)",
        "currentschoolyear boolean",
        *ENVELOPE,
    ]
    assert tables["edfi.driver"][3:] == ["discriminator varchar(128)?", *ENVELOPE]
    assert tables["edfi.busnote"][3:] == ["createdate timestamp"]


def test_these_are_all_tables(tables) -> None:
    assert sorted(tables) == [
        "edfi.bus",
        "edfi.busbussparedriver",
        "edfi.busdriverassociation",
        "edfi.busdriverassociationbusinspection",
        "edfi.busnightdriverassociation",
        "edfi.busnote",
        "edfi.busoutercolour",
        "edfi.colourdescriptor",
        "edfi.depot",
        "edfi.descriptor",
        "edfi.driver",
        "edfi.educationorganization",
        "edfi.educationorganizationbadge",
        "edfi.educationorganizationbadgeperiod",
        "edfi.schoolyeartype",
        "sample.busextension",
        "sample.busticket",
    ]


SCALARS = """
Shared Decimal Ratio total digits 7 decimal places 3
Shared Integer Count max value big
Shared Short Level
Shared String Code max length 12
Enumeration Gear
  item "First"
Domain Entity Machine
  integer MachineNumber is part of identity
  bool A is required
  currency B is required
  date C is required
  datetime D is required
  decimal E is required total digits 6 decimal places 2
  duration F is required
  enumeration Gear is required role name Low
  integer H is required max value big
  percent I is required
  shared decimal Ratio is required
  shared integer Count is required
  shared short Level is required
  shared string Code is required
  short J is required
  string K is required max length 17
  time L is required
  year M is required
"""


def test_the_types_of_scalars(tables_of) -> None:
    tables = tables_of(SCALARS)

    assert tables["edfi.machine"][:18] == [
        "*machinenumber int",
        "a boolean",
        "b money",
        "c date",
        "code varchar(12)",
        "count int",
        "d timestamp",
        "e numeric(6,2)",
        "f varchar(30)",
        "h bigint",
        "i numeric(5,4)",
        "j smallint",
        "k varchar(17)",
        "l time",
        "level smallint",
        "lowgeartypeid int",
        "m smallint",
        "ratio numeric(7,3)",
    ]
    assert tables["edfi.geartype"] == [
        "*geartypeid int",
        "codevalue varchar(50)",
        "description varchar(1024)",
        "shortdescription varchar(450)",
        # Items of an enumeration are no documents.
        *(f"{column.removesuffix('?')}?" for column in ENVELOPE),
    ]


MERGED = """
Enumeration SchoolYear
  item "2025-2026"
Domain Entity School
  integer SchoolId is part of identity
Domain Entity Session
  domain entity School is part of identity
  string SessionName is part of identity
  enumeration SchoolYear is part of identity
Domain Entity Section
  string SectionIdentifier is part of identity
  domain entity School is part of identity role name Host
Association Enrollment
  domain entity School
  domain entity Section
    merge Section.HostSchool with School
  domain entity Session is optional role name Spring
    merge Session.School with School
"""


def test_merged_columns_are_left_out(tables_of) -> None:
    columns = model_columns(
        tables_of(MERGED.replace("merge Session.School", "merge SpringSession.School"))["edfi.enrollment"]
    )

    assert columns == "*schoolid, *sectionidentifier, springschoolyear?, springsessionname?"


def test_values_with_one_column_name_share_the_column(tables_of) -> None:
    core = MERGED.replace("    merge Section.HostSchool with School\n", "")
    unified = core.replace(" role name Spring\n    merge Session.School with School", "").replace(" role name Host", "")

    columns = model_columns(tables_of(unified)["edfi.enrollment"])

    assert columns == "*schoolid, *sectionidentifier, schoolyear?, sessionname?"


COMMONS = """
Shared Integer Score
Domain Entity Pupil
  integer PupilId is part of identity
  common Picture is optional
  common Passport is required
  common Book is optional collection
Common Picture
  string PictureCode is part of identity
  common Frame is required
  common Tag is optional collection
Common Frame
  string FrameCode is part of identity
Common Tag
  string TagCode is part of identity
Common Passport
  string PassportCode is part of identity
  common Tag is optional collection role name Visa
Common Book
  inline common Cover is optional
  string Isbn is part of identity
  common Tag is required
Inline Common Cover
  short Thickness is part of identity
"""


def test_keys_of_commons(tables_of) -> None:
    tables = {name: model_columns(columns) for name, columns in tables_of(COMMONS).items()}

    assert tables == {
        "edfi.pupil": "*pupilid",
        # An optional single common has no key of its own, nor have the required ones in it.
        "edfi.pupilpicture": "*pupilid, picturecode",
        "edfi.pupilpictureframe": "*pupilid, framecode",
        "edfi.pupilpicturetag": "*pupilid, *tagcode",
        "edfi.pupilpassport": "*pupilid, *passportcode",
        "edfi.pupilpassportvisatag": "*pupilid, *passportcode, *tagcode",
        # Below an optional inline common identity can be null here, and is part of the key of what is within.
        "edfi.pupilbook": "*pupilid, *isbn, thickness?",
        "edfi.pupilbooktag": "*pupilid, *isbn, *thickness, *tagcode",
    }


PLACES = """
Enumeration SchoolYear
  item "2025-2026"
Descriptor Colour
Domain Entity Bus
  integer BusId is part of identity
Domain Entity Pupil
  integer PupilId is part of identity
  inline common Engine is optional role name Spare
  common Badge is optional collection role name Badge
  string Note is optional collection role name Note
  string Motto is optional role name Preferred shorten to Pref
  string Motto is optional collection role name Former shorten to Form
  string Same is optional role name Same
  enumeration SchoolYear is optional collection role name Past
  domain entity Bus is optional collection role name Old
Inline Common Engine
  descriptor Colour is optional collection role name Paint
  domain entity Bus is optional collection role name Big
  common Badge is optional collection
  domain entity Bus is required role name Towing
Common Badge
  short BadgeNumber is part of identity
"""


def test_roles_and_inline_commons_in_names(tables_of) -> None:
    tables = {name: model_columns(columns) for name, columns in tables_of(PLACES).items() if "pupil" in name}

    assert tables == {
        # A role is shortened in the name of a column, and repeated nowhere. What is below an optional inline common can
        # be NULL, and a reference has its role in front of that of the inline common.
        "edfi.pupil": "*pupilid, prefmotto?, same?, towingsparebusid?",
        # The name of a table has the whole role, unless it is the name of the property; items of scalars have none.
        "edfi.pupilformermotto": "*pupilid, *motto",
        "edfi.pupilnote": "*pupilid, *note",
        "edfi.pupilpastschoolyear": "*pupilid, *schoolyear",
        "edfi.pupiloldbus": "*pupilid, *oldbusid",
        "edfi.pupilsparebigbus": "*pupilid, *bigsparebusid",
        "edfi.pupilsparepaintcolour": "*pupilid, *sparecolourdescriptorid",
        # The table of a common has the role even then, and nothing of the inline common.
        "edfi.pupilbadge": "*pupilid, *sparebadgenumber",
        "edfi.pupilbadgebadge": "*pupilid, *badgenumber",
    }


MERGED_FAR_AWAY = """
Domain Entity School
  integer SchoolId is part of identity
Domain Entity Session
  string SessionName is part of identity
  domain entity School is part of identity
Domain Entity Offering
  string CourseCode is part of identity
  domain entity Session is part of identity
Domain Entity Section
  string SectionId is part of identity
  domain entity Offering is part of identity
Domain Entity Grade
  integer GradeId is part of identity
  domain entity School is required
  domain entity Offering is optional role name Near
    merge NearOffering.Session.School with School
  domain entity Section is optional role name Far
    merge FarSection.Offering.Session.School with School
"""


def test_a_common_subclass_has_the_columns_of_its_base(tables_of) -> None:
    core = """
Domain Entity Pupil
  integer PupilId is part of identity
  common PostAddress is optional collection
Common Address
  string Street is part of identity
  string Town is optional
Common PostAddress based on Address
  string Box is part of identity
  bool Ahead is optional
"""

    assert model_columns(tables_of(core)["edfi.pupilpostaddress"]) == "*pupilid, *box, *street, ahead?, town?"


def test_a_merge_of_more_than_three_steps_removes_no_column(tables_of) -> None:
    columns = model_columns(tables_of(MERGED_FAR_AWAY)["edfi.grade"])

    assert columns == (
        "*gradeid, farcoursecode?, farschoolid?, farsectionid?, farsessionname?, nearcoursecode?, nearsessionname?,"
        " schoolid"
    )


@pytest.mark.parametrize(
    ("core", "reason"),
    [
        (
            "Domain Entity Pupil\n  integer AB is part of identity\n  integer AB is required role name A\n",
            "2 columns of edfi.pupil have the name ab",
        ),
        (
            "Domain Entity Pupil\n  integer PupilId is part of identity\n  string Note is optional collection\n"
            "Domain Entity PupilNote\n  integer NoteId is part of identity\n",
            "2 tables have the name edfi.pupilnote",
        ),
        (
            f"Domain Entity Pupil\n  integer PupilId is part of identity\n  bool {'Abcd' * 16} is optional\n",
            f"the name of edfi.pupil.{'abcd' * 16} has more than 63 characters",
        ),
    ],
)
def test_names_that_cannot_be_kept_apart_are_refused(tables_of, core: str, reason: str) -> None:
    with pytest.raises(UnusableNames) as refused:
        tables_of(core)

    assert str(refused.value) == reason


def test_columns_are_sorted_without_regard_to_case(tables_of) -> None:
    core = """
Domain Entity Plan
  integer PlanId is part of identity
  date IEPBeginDate is optional
  bool IdeaEligibility is optional
  bool Zone is optional
"""

    assert model_columns(tables_of(core)["edfi.plan"]) == "*planid, ideaeligibility?, iepbegindate?, zone?"
