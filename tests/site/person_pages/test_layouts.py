"""The layout of the pages of persons: read against models, and what is wrong with one."""

import pytest

from edfi_api.common.conf import BUNDLED_STANDARDS
from edfi_api.core.served import compilation_of
from edfi_api.site.checks import pages_of_persons_fit
from edfi_api.site.person_pages.layout import BUNDLED, InvalidLayout, read_layout

BLOCK = """
[[pages]]
resource = "Student"

[[pages.blocks]]
name = "enrolments"
heading = "Enrolments"
resources = ["StudentSchoolAssociation", "NotInThisStandard"]
reference = "studentReference"
columns = [{ heading = "From", value = "entryDate" }]
"""


@pytest.mark.parametrize(
    ("standard", "pages"),
    [
        ("3.3.1-b", {"Student": 9, "Staff": 7, "Parent": 1}),
        ("4.0", {"Student": 9, "Staff": 7, "Parent": 1}),
        ("5.2", {"Student": 9, "Staff": 7, "Contact": 1}),
        ("6.1", {"Student": 9, "Staff": 7, "Contact": 1}),
    ],
)
def test_the_bundled_layout_fits_every_bundled_standard(standard, pages, settings):
    surface = compilation_of([BUNDLED_STANDARDS / standard], settings.EDFI_API.get("CACHE_DIR")).surface

    layout = read_layout(BUNDLED, surface)

    assert {name.resource: len(blocks) for name, blocks in layout.items()} == pages
    assert all(block.columns or block.calendar for blocks in layout.values() for block in blocks)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("entryDate", "entrydate", "Student, block 'enrolments', column 'From': no resource has 'entrydate'"),
        ('"studentReference"', '"pupilReference"', "no resource has the reference 'pupilReference'"),
        ("columns =", "colums =", "Object contains unknown field `colums`"),
        ('"entryDate" }]', '"schoolReference > a > b > c" }]', "has more than 2 references on its way"),
        ("[[pages]]", "[[pages", "Expected"),
        ('columns = [{ heading = "From", value = "entryDate" }]', "", "a block has columns, or 'day' and 'category'"),
        ('value = "entryDate"', 'value = "entryDate", resource = "School"', "'reference' is missing"),
        ('value = "entryDate"', 'value = "entryDate", link = "x"', "no resource has the reference 'x'"),
    ],
)
def test_what_is_wrong_with_a_layout_is_said(surface, tmp_path, old, new, problem):
    path = tmp_path / "layout.toml"
    path.write_text(BLOCK.replace(old, new))

    with pytest.raises(InvalidLayout) as raised:
        read_layout(path, surface)

    assert problem in str(raised.value)


def test_a_layout_of_the_operator_is_checked(settings, tmp_path):
    path = tmp_path / "layout.toml"
    path.write_text(BLOCK)
    settings.EDFI_API = {**settings.EDFI_API, "PERSON_PAGES": str(path)}
    assert pages_of_persons_fit() == []

    wrong = tmp_path / "wrong.toml"
    wrong.write_text(BLOCK.replace("entryDate", "entrydate"))
    settings.EDFI_API = {**settings.EDFI_API, "PERSON_PAGES": str(wrong)}

    assert [(each.id, each.msg) for each in pages_of_persons_fit()] == [
        (
            "edfi_api.E011",
            f"{wrong}: Student, block 'enrolments', column 'From': no resource has 'entrydate'",
        )
    ]
