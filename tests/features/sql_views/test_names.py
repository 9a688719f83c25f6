"""Names of tables: parts are joined without an overlap, long names end in a hash."""

import pytest

from edfi_api.features.sql_views.shape import table_name
from edfi_api.model.surface.columns import TableName


@pytest.mark.parametrize(
    ("parts", "name"),
    [
        (
            ("StudentEducationOrganizationAssociation", "StudentIdentificationCode"),
            "studenteducationorganizationassociationstudentidentifica_c15030",
        ),
        (
            ("StudentEducationOrganizationAssociation", "StudentCharacteristic", "Period"),
            "studenteducationorganizationassociationstudentcharacteri_a18fcf",
        ),
        (
            (
                "RegionalTransportationAgreementHolder",
                "HolderVehicleInspectionRecord",
                "RecordCorrectiveMeasure",
            ),
            "regionaltransportationagreementholdervehicleinspectionre_59d139",
        ),
        (("School", "SchoolCategory"), "schoolcategory"),
        (("EducationOrganization", "Address", "Period"), "educationorganizationaddressperiod"),
        # Case counts, and a single letter is an overlap.
        (("Applesauce", "eGrade"), "applesauceGrade".lower()),
        (("ApplesaucE", "eGrade"), "applesauceegrade"),
        (("X" * 60, "Abc"), "x" * 60 + "abc"),
    ],
)
def test_the_name_of_a_table(parts: tuple[str, ...], name: str) -> None:
    assert table_name(TableName(parts)) == name


def test_a_collection_of_references_keeps_what_overlaps() -> None:
    assert table_name(TableName(("Bus", "Route"), ("Route",))) == "busrouteroute"
