"""Any path, query string, header or method is answered without a 5xx, and every refusal is a problem."""

from urllib.parse import quote, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.whole.robustness.conftest import anything
from tests.whole.robustness.edge_cases import MOMENTS, TEXTS, TEXTS_OF_NUMBERS

SOME_ID = "0198b4f3-3c5e-7000-8000-0123456789ab"

texts = st.sampled_from([*TEXTS, *TEXTS_OF_NUMBERS, *MOMENTS]).map(lambda text: text[:3000]) | st.text(st.characters())
segments = texts.map(lambda text: quote(text.encode(errors="surrogatepass"), safe="")) | st.sampled_from(
    [
        "%ff",
        "%ed%a0%80",
        "%00",
        "%2F",
        "..",
        ".",
        "%0A",
        "%C0%AE",
        "ed-fi",
        "students",
        "STUDENTS%0A",
        SOME_ID,
        "%",
        "%zz",
        ";a=b",
    ]
)


@anything
@given(path=st.lists(segments, max_size=4))
def test_any_path(send, path):
    send("GET", "/data/" + "/".join(path))


@anything
@given(segment=segments, method=st.sampled_from(["GET", "PUT", "DELETE"]))
def test_any_id(send, segment, method):
    send(method, f"/data/ed-fi/students/{segment}", b"{}")


@anything
@given(data=st.data())
def test_any_query(send, surface, data):
    resource = data.draw(st.sampled_from(surface.resources), label="resource")
    names = st.sampled_from(["limit", "offset", "totalCount", *(field.name for field in resource.query_fields)]) | texts
    parameters = data.draw(st.lists(st.tuples(names, texts), max_size=3))

    send("GET", f"/data{resource.url_path}?{urlencode(parameters, errors='surrogatepass')}")


@anything
@given(query=st.binary().map(quote) | st.text(st.characters(codec="latin-1")))
def test_any_query_string(send, query):
    send("GET", "/data/ed-fi/students", QUERY_STRING=query)


NUMBERS = ["sNaN", "-sNaN1", "NaN", "Infinity", "1e400", "1e9999999999", "9" * 28, "-" + "9" * 5000, "0." + "12" * 20]


@pytest.mark.parametrize("value", NUMBERS, ids=lambda value: value[:9])
@pytest.mark.parametrize("field", ["schools?schoolId", "staffs?yearsOfPriorProfessionalExperience"])
def test_extreme_numbers_in_a_query(send, field, value):
    assert send("GET", f"/data/ed-fi/{field}={value}").status_code in (200, 400)


@pytest.mark.parametrize("digits", [29, 40])
def test_a_whole_number_of_very_many_digits_in_a_query_is_refused_as_it_was_sent(send, digits):
    sent = "9" * digits

    response = send("GET", f"/data/ed-fi/schools?schoolId={sent}")

    assert response.status_code == 400
    assert response.json()["validationErrors"] == {"$.schoolId": [f"The value '{sent}' is not valid for schoolId."]}


HEADERS = ["CONTENT_TYPE", "HTTP_ACCEPT", "HTTP_IF_MATCH", "HTTP_IF_NONE_MATCH", "HTTP_CORRELATIONID"]
HEADERS += ["HTTP_HOST", "HTTP_AUTHORIZATION", "HTTP_X_HTTP_METHOD_OVERRIDE", "HTTP_CONTENT_ENCODING", "HTTP_EXPECT"]


@anything
@given(
    header=st.sampled_from(HEADERS),
    value=st.text(st.characters(codec="latin-1", exclude_characters="\r\n"))
    | st.sampled_from(
        ["*", '"1"', 'W/"1"', '"', ",", '"1-l", "2"', "-1", "1e9", "99999999999", "Bearer", "Bearer \xff"]
    ),
    method=st.sampled_from(["GET", "POST", "PUT", "DELETE"]),
)
def test_any_header(send, header, value, method):
    item = f"/{SOME_ID}" if method in ("PUT", "DELETE") else ""

    send(method, f"/data/ed-fi/students{item}", b'{"studentUniqueId": "1"}', **{header: value})


@anything
@given(
    method=st.sampled_from(["HEAD", "OPTIONS", "PATCH", "TRACE", "PROPFIND", "get", "ÄH"])
    | st.text("AZaz-", min_size=1)
)
def test_any_method(send, method):
    for path in ("/data/ed-fi/students", f"/data/ed-fi/students/{SOME_ID}"):
        assert send(method, path).status_code in (200, 400, 404, 405)
