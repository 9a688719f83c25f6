"""Files of the shapes that exports of Ed-Fi's Data Import have, and what is read of them."""

from typing import Any

import orjson
import pytest

from edfi_api.features.tables.exceptions import InvalidTemplate
from edfi_api.features.tables.named_templates import templates_in
from tests.features.tables.conftest import NINTH

COLUMNS = [
    {"member": "studentReference.studentUniqueId", "column": "SID"},
    {"member": "schoolReference.schoolId", "value": "7"},
    {"member": "entryGradeLevelDescriptor", "column": "Grade", "default": NINTH, "values": {"9": NINTH}},
]
# `Source`, `SourceColumn`: one form of the leaves; another has no source.
LEAVES = {
    "studentReference": {"studentUniqueId": {"Source": "column", "SourceColumn": "SID"}},
    "schoolReference": {"schoolId": {"Source": "static", "Value": "7"}},
    "entryGradeLevelDescriptor": {
        "Source": "lookup-table",
        "SourceTable": "Grades",
        "SourceColumn": "Grade",
        "Default": NINTH,
    },
    "classOfSchoolYearTypeReference": {"schoolYear": {"Source": "no-mapping"}},
    "educationPlans": [],
}
SMALL_LEAVES = {
    "studentReference": {"studentUniqueId": {"sourceColumn": "SID"}},
    "schoolReference": {"schoolId": {"value": 7}},
    "entryGradeLevelDescriptor": {"sourceColumn": "Grade", "sourceTable": "grades", "default": NINTH},
}
NODES = [
    {"name": "studentReference", "children": [{"name": "studentUniqueId", "sourceColumn": "SID", "children": []}]},
    {"name": "schoolReference", "children": [{"name": "schoolId", "value": "7", "children": []}]},
    {"name": "entryGradeLevelDescriptor", "sourceColumn": "Grade", "sourceTable": "Grades", "default": NINTH},
]
ENTRIES = [{"sourceTable": "Grades", "key": "9", "value": NINTH}]
PATH = "/ed-fi/studentSchoolAssociations"


def read(content: Any) -> list[dict[str, Any]]:
    """The templates in the JSON of this content, as JSON."""
    return [orjson.loads(orjson.dumps(each.template.as_json())) for each in templates_in(orjson.dumps(content))]


def left_out(content: Any) -> list[str]:
    return list(templates_in(orjson.dumps(content))[0].left_out)


def export(one_map: dict[str, Any], **content: Any) -> dict[str, Any]:
    return {"title": "Enrolments", "apiVersion": "5.2", "template": {"maps": [one_map], "lookups": ENTRIES, **content}}


def text(value: Any) -> str:
    return orjson.dumps(value).decode()


@pytest.mark.parametrize(
    "content",
    [
        export({"name": "SSA", "resourcePath": PATH, "columnHeaders": ["SID", "Grade"], "map": LEAVES}),
        export({"name": "SSA", "resourcePath": PATH, "map": text(LEAVES)}),
        export({"name": "SSA", "resourcePath": PATH, "map": SMALL_LEAVES}),
        export({"Name": "SSA", "ResourcePath": "/studentSchoolAssociations", "DataMaps": text(NODES)}),
        export({"name": "SSA", "resourcePath": "/data/v3/ed-fi/studentSchoolAssociations", "columns": NODES}),
        export({"name": "SSA", "resourcePath": PATH, "map": text({"resourceMaps": text(NODES)})}),
        {
            "title": "x",
            "template": text(
                {"maps": text([{"name": "SSA", "resourcePath": PATH, "map": LEAVES}]), "lookups": text(ENTRIES)}
            ),
        },
        {"title": "x", "maps": [{"name": "SSA", "resourcePath": PATH, "map": LEAVES}], "lookups": ENTRIES},
        {"name": "SSA", "resourcePath": PATH, "map": LEAVES, "lookups": ENTRIES},
    ],
)
def test_columns_constants_defaults_and_look_ups_are_read_from_each_form(db, content):
    assert read(content) == [{"version": 1, "resource": PATH, "name": "SSA", "columns": COLUMNS}]


@pytest.mark.parametrize(
    "lookups",
    [
        ENTRIES,
        text(ENTRIES),
        [{"SourceTable": "GRADES", "Key": 9, "Value": NINTH}],
        {"Grades": {"9": NINTH}},
        {"Grades": [{"key": "9", "value": NINTH}]},
        [{"sourceTable": "Grades", "lookups": [{"key": "9", "value": NINTH}]}],
        [{"name": "Grades", "values": {"9": NINTH}}],
    ],
)
def test_look_ups_are_read_one_by_one_and_by_table(db, lookups):
    content = export({"name": "SSA", "resourcePath": PATH, "map": LEAVES}, lookups=lookups)

    assert read(content)[0]["columns"][2]["values"] == {"9": NINTH}


def test_several_items_of_an_array_are_read_with_their_positions(db):
    scores = [
        {
            "result": {"source": "column", "sourceColumn": "RIT"},
            "resultDatatypeTypeDescriptor": {"source": "static", "value": "Integer"},
        },
        {"result": {"source": "column", "sourceColumn": "Percentile"}},
    ]
    nodes = [
        {
            "name": "scoreResults",
            "dataType": "array",
            "children": [
                {
                    "name": "scoreResult",
                    "children": [
                        {"name": "result", "sourceColumn": "RIT"},
                        {"name": "resultDatatypeTypeDescriptor", "value": "Integer"},
                    ],
                },
                {"name": "scoreResult", "children": [{"name": "result", "sourceColumn": "Percentile"}]},
            ],
        }
    ]
    for given in ({"scoreResults": scores}, nodes):
        [template] = read(export({"name": "A", "resourcePath": "/ed-fi/studentAssessments", "map": given}))
        assert template["columns"] == [
            {"member": "scoreResults[0].result", "column": "RIT"},
            {"member": "scoreResults[0].resultDatatypeTypeDescriptor", "value": "Integer"},
            {"member": "scoreResults[1].result", "column": "Percentile"},
        ]


def test_what_runs_scripts_deletes_or_sends_documents_is_named(db):
    content = export(
        {
            "name": "SSA",
            "resourcePath": PATH,
            "map": LEAVES,
            "customFileProcessor": {"name": "Tidy dates", "scriptContent": "Get-Content"},
        },
        bootstraps=[{"name": "Schools", "resourcePath": "/ed-fi/schools", "data": [{}]}],
        preprocessors=[{"name": "Pivot", "scriptContent": "param()", "requireOdsApiAccess": True}],
        customFileProcessors=["clean.ps1"],
        lookups=[],
    )
    content["template"]["maps"].append({"name": "Gone", "resourcePath": PATH, "isDeleteOperation": True, "map": LEAVES})

    assert left_out(content) == [
        "SSA: customFileProcessor (Tidy dates) runs a script, and is left out.",
        "SSA: the look-up table Grades is not in it; cells count as they are.",
        "Gone: it deletes documents, which tables do not do.",
        "bootstraps: Schools sends fixed documents, and is left out.",
        "preprocessors: Pivot runs a script, and is left out.",
        "customFileProcessors: clean.ps1 runs a script, and is left out.",
    ]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ({"template": {"maps": []}}, "No map of a column is in it."),
        ({"template": {"maps": "[not JSON"}}, "A map in it is not JSON."),
        (export({"name": "SSA", "map": {"a": {"sourceColumn": "x" * 1_001}}}), "longer than 1000 characters"),
        (export({"name": "SSA", "map": {"a": {"sourceColumn": "x\0"}}}), "has a NUL"),
        (export({"name": "SSA", "map": {f"m{number}": {"sourceColumn": "x"} for number in range(501)}}), "500 members"),
    ],
)
def test_a_file_without_a_usable_map_is_refused_with_the_reason(db, content, reason):
    with pytest.raises(InvalidTemplate) as refusal:
        read(content)

    assert reason in str(refusal.value)
