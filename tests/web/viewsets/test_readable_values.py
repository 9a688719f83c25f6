"""The values of a document that a page shows and marks."""

import pytest

from edfi_api.web.admin_kit.readable_values import marked_body, readable_values

BODY = {
    "schoolReference": {"schoolId": 7},
    "note": 'a: "b", c',
    "isActive": True,
    "addresses": [{"city": "Lake"}, {"city": "Hill"}],
}


@pytest.mark.parametrize(
    ("value", "labels"),
    [
        ('a: "b", c', ["Note"]),
        ("True", ["Is active"]),
        ("true", ["Is active"]),
        ("Hill", ["Addresses"]),
        ("Hil", []),
        ("", []),
    ],
)
def test_the_members_with_a_value_are_marked_wherever_it_is_in_them(value, labels):
    assert [each.label for each in readable_values(BODY, [value]) if each.is_marked] == labels
    assert marked_body(BODY, [value]).count("<mark>") == len(labels)


def test_links_lead_to_the_first_marked_value_of_the_page():
    values = readable_values(BODY, ["Lake", "true", "7"])

    assert [each.label for each in values if each.is_target] == ["Is active"]
    assert "id=" not in marked_body(BODY, ["Lake", "true", "7"])


def test_a_value_of_a_reference_is_marked_in_the_body_alone():
    assert '<mark id="marked">    &quot;schoolId&quot;: 7</mark>' in marked_body(BODY, ["7"])
