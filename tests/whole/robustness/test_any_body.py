"""Any body is answered without a 5xx, and every refusal is a problem."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edfi_api.core.models import Document
from tests.whole.robustness.conftest import anything
from tests.whole.robustness.edge_cases import NUMBERS, TEXTS_OF_NUMBERS, Raw, corrupted, json_text, nested, values

STUDENT = {"studentUniqueId": "1", "firstName": "Mae", "lastSurname": "Ortiz", "birthDate": "2010-02-03"}


@anything
@given(data=st.data())
def test_a_value_in_the_wrong_place_of_any_resource(send, surface, documents, data):
    resource = data.draw(st.sampled_from(surface.resources), label="resource")
    body = data.draw(corrupted(documents.full_body(resource)))

    send("POST", f"/data{resource.url_path}", json_text(body).encode())


@anything
@given(value=values)
def test_any_json_as_a_body(send, value):
    send("POST", "/data/ed-fi/students", json_text(value).encode())


@anything
@given(body=st.binary() | st.text().map(str.encode))
def test_any_bytes_as_a_body(send, body):
    send("POST", "/data/ed-fi/students", body)


@anything
@given(value=values, unknown=st.booleans(), escaped=st.booleans())
def test_any_value_of_an_optional_and_of_an_unknown_member(send, value, unknown, escaped):
    more = {"aboutMe" if unknown else "middleName": value} | ({"escaped": Raw('"\\u0041"')} if escaped else {})

    send("POST", "/data/ed-fi/students", json_text(STUDENT | more).encode())


@anything
@given(value=values)
def test_any_id_in_the_body_of_an_update(send, value):
    path = send("POST", "/data/ed-fi/students", json.dumps(STUDENT).encode())["Location"].partition("testserver")[2]

    send("PUT", path, json_text(STUDENT | {"id": value}).encode())


@pytest.mark.parametrize("innermost", ["1", '"\\u0041"', '{"b": {}}'])
@pytest.mark.parametrize(("depth", "status"), [(100, 201), (240, 201), (260, 400), (900, 400), (2000, 400)])
def test_a_deeply_nested_unknown_member_is_dropped_or_refused(send, depth, status, innermost):
    deep = Raw(nested(depth).replace("1", innermost))

    response = send("POST", "/data/ed-fi/students", json_text(STUDENT | {"aboutMe": deep}).encode())

    assert response.status_code == status
    if status == 400:
        assert list(response.json()["validationErrors"]) == ["$."]
    else:
        assert Document.objects.get().body == STUDENT


@anything
@given(data=st.data())
def test_a_stored_body_can_be_sent_back_without_a_change(send, surface, documents, data):
    """A stored body that is read and sent again changes nothing. Most corrupted bodies are refused."""
    endpoint = data.draw(st.sampled_from(["/data/ed-fi/students", "/data/ed-fi/people", "/data/ed-fi/assessments"]))
    resource = surface.by_endpoint["ed-fi", endpoint.rsplit("/", 1)[1]]
    body = documents.minimal_body(resource)
    documents.store_targets(resource, body)
    name = data.draw(st.sampled_from(list(resource.json_schema["properties"])))
    first = send("POST", endpoint, json_text(body | {name: data.draw(values)}).encode())
    if first.status_code >= 400:
        return
    path = first["Location"].partition("testserver")[2]
    served = send("GET", path).json()

    again = send("POST", endpoint, json.dumps({key: served[key] for key in served if key != "id"}).encode())

    assert (again.status_code, again["ETag"]) == (200, first["ETag"])
    assert send("GET", path).json() == served


@pytest.mark.parametrize("value", [*NUMBERS, *TEXTS_OF_NUMBERS], ids=lambda value: str(value)[:9])
@pytest.mark.parametrize("member", ["publicationYear", "publicationDate"])
def test_extreme_numbers_in_a_member_without_bounds(send, documents, resource_named, member, value):
    assessment = resource_named("Assessment")
    body = documents.full_body(assessment)
    documents.store_targets(assessment, body)
    body["contentStandard"][member] = value

    send("POST", "/data/ed-fi/assessments", json_text(body).encode())


@pytest.mark.parametrize("sent", [Raw("9" * 29), "9" * 29, "1e28"])
def test_a_whole_number_of_very_many_digits_is_refused_where_it_does_not_fit(send, documents, resource_named, sent):
    body = documents.minimal_body(resource_named("School"), schoolId=sent)

    response = send("POST", "/data/ed-fi/schools", json_text(body).encode())

    assert response.json()["validationErrors"].keys() == {"$.schoolId"}
