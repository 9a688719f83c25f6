"""Operators of query parameters, the client's order, and the bounds of both."""

import base64
import json
from urllib.parse import quote, urlencode

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from edfi_api.web.viewsets import representation
from tests.support.examples import examples
from tests.support.factories import STUDENT
from tests.support.serving import like_the_ods
from tests.web.viewsets.students import unique_ids

EXAMPLES = examples(30)


@pytest.fixture
def students(api):
    for number, surname, born, city in (
        ("1", "Ortiz", "2010-02-03", "Lyon"),
        ("2", "ortega", "2010-12-31", None),
        ("3", "Lee", "2011-01-01", "Oslo"),
        ("4", "Lee", "2009-05-05", "Lyon"),
    ):
        body = STUDENT | {"studentUniqueId": number, "lastSurname": surname, "birthDate": born}
        assert api.post("/students", body if city is None else body | {"birthCity": city}).status_code == 201


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("birthDate[gte]=2010-02-03&birthDate[lt]=2011-01-01", ["1", "2"]),
        ("BIRTHDATE[gt]=2/3/2010", ["2", "3"]),
        ("birthDate[lte]=2010-02-03", ["1", "4"]),
        ("studentUniqueId[in]=1,3,9", ["1", "3"]),
        ("lastSurname[in]=Lee", ["3", "4"]),
        ("lastSurname[prefix]=ORT", ["1", "2"]),
        ("lastSurname[prefix]=ort%25", []),
        ("lastSurname[ne]=Lee", ["1", "2"]),
        ("birthCity[ne]=Lyon", ["2", "3"]),
        ("birthCity[exists]=false", ["2"]),
        ("birthCity[exists]=TRUE&lastSurname=Lee", ["3", "4"]),
        ("birthCity[lt]=M", ["1", "4"]),
        ("birthCity[gte]=M", ["3"]),
        ("birthDate[gte]=2010-01-01&studentUniqueId=4", []),
        ("birthDate%5Bgte%5D=2011-01-01", ["3"]),
        ("comparisons=birthDate[gte]%3D2011-01-01", ["3"]),
        (
            "comparisons=birthDate[gte]=2010-02-03&Comparisons=lastSurname[in]=Ortiz,ortega&lastSurname[prefix]=or",
            ["1", "2"],
        ),
        ("comparisons=birthDate[gte]=2010-02-03&comparisons=birthDate[lt]=2011-01-01", ["1", "2"]),
        ("comparisons=birthDate[gte]=2011-01-01&birthDate[gte]=2010-01-01", ["3"]),
    ],
)
def test_documents_are_found_by_comparisons(api, students, query, found):
    assert unique_ids(api.get(f"/students?{query}")) == found
    assert api.get(f"/students?{query}&totalCount=true&limit=0")["Total-Count"] == str(len(found))


@pytest.mark.parametrize("is_ods", [False, True])
@pytest.mark.parametrize("text", ["System.Collections.Generic.Dictionary`2", "", "lastSurname=Ortiz", "[gte]=1"])
def test_what_is_no_comparison_is_refused_and_never_ignored(api, students, settings, text, is_ods):
    """Libraries of clients send the name of a type, where they cannot serialize a parameter."""
    settings.EDFI_API = {**settings.EDFI_API, "IGNORE_UNKNOWN_PARAMETERS": is_ods}

    refusal = api.get("/students", QUERY_STRING=urlencode({"comparisons": text}))

    assert refusal.status_code == 400
    assert refusal.json()["errors"] == [
        f"'{text}' is no comparison. The parameter comparisons has the form field[operator]=value, and is repeated for "
        "each further one."
    ]


def test_with_ods_comparisons_may_be_repeated_and_are_of_known_fields(api, students):
    born = "comparisons=birthDate[gte]=2010-02-03"
    with like_the_ods():
        assert unique_ids(api.get(f"/students?{born}&comparisons=birthDate[lt]=2011-01-01")) == ["1", "2"]
        assert unique_ids(api.get(f"/students?{born}&lastSurname=Lee&lastSurname=Ortiz")) == ["3"]
        assert api.get(f"/students?{born}&comparisons=x").status_code == 400
        assert api.get("/students?comparisons=name[prefix]=O").status_code == 400
        assert api.get("/students?comparisons=name[startsWith]=O").status_code == 400


def test_what_a_library_sends_in_place_of_a_comparison_is_called_so(api):
    refusal = api.get("/students?comparisons=System.Collections.Generic.Dictionary%602[System.String,System.String]")

    assert refusal.json()["hints"] == [
        "comparisons=System.Collections.Generic.Dictionary`2[System.String,System... was sent. A library that sends "
        "the name of a type, or an object, cannot write this parameter. Leave it out, and add field[operator]=value "
        "itself to the address."
    ]


@pytest.mark.parametrize(
    ("name", "example"),
    [
        ("birthDate.gte", "gte"),
        ("birthDate__lt", "lt"),
        ("birthDate>", "gt"),
        ("birthDate_gte", "gte"),
        ("birthDate-gte", "gte"),
        ("birthDate(lte)", "lte"),
        ("birthDateAfter", "gt"),
        ("min_birth_date", "gt"),
        ("gte.birthDate", "gt"),
    ],
)
def test_a_comparison_in_another_spelling_is_answered_with_the_right_one(api, name, example):
    refusal = api.get("/students", QUERY_STRING=urlencode({name: "2011-01-01"}))

    assert refusal.status_code == 400
    assert refusal.json()["hints"][0] == (
        f"{name} was sent. Operators are written like birthDate[{example}]=...; those of birthDate are gt, gte, lt, "
        "lte, in, ne and exists."
    )


@pytest.mark.parametrize("name", ["birthDate ", "birth_date", "birthDates", "student.birthDate", "filter[birthDate]"])
def test_a_field_in_another_spelling_is_answered_with_the_right_one(api, name):
    refusal = api.get("/students", QUERY_STRING=urlencode({name: "2011-01-01"}))

    assert refusal.json()["hints"] == [f"{name} was sent. Did you mean birthDate?"]


@pytest.mark.parametrize("condition", ["schoolId=1.5", "schoolId[gt]=1.5", "schoolId=99999999999999999999"])
def test_a_number_that_a_whole_number_cannot_be_is_refused_as_such(api, condition):
    refusal = api.get(f"/schools?{condition}")

    assert refusal.status_code == 400
    assert refusal.json()["hints"] == [
        f"{condition} was sent. Expected is a whole number, not larger than the member can hold."
    ]


def test_descriptors_are_compared_in_the_case_of_the_stored_one(api, documents, resource_named):
    documents.store(resource_named("StudentSchoolAssociation"))
    [stored] = api.get("/studentSchoolAssociations").json()
    uri = stored["entryGradeLevelDescriptor"].upper().replace("URI://ED-FI.ORG/", "uri://ed-fi.org/")

    for query, number in (("in", 1), ("ne", 0)):
        found = api.get("/studentSchoolAssociations", QUERY_STRING=f"entryGradeLevelDescriptor[{query}]={uri}").json()
        assert len(found) == number


def test_numbers_are_compared_as_numbers(api, documents, resource_named):
    documents.store(resource_named("StudentSchoolAssociation"))
    [stored] = api.get("/studentSchoolAssociations").json()
    school = stored["schoolReference"]["schoolId"]

    assert len(api.get(f"/studentSchoolAssociations?schoolId[gte]={school}.0").json()) == 1
    assert api.get(f"/studentSchoolAssociations?schoolId[gt]={school}").json() == []
    assert len(api.get(f"/studentSchoolAssociations?schoolId[lt]={school * 10}").json()) == 1


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (
            "birthDate[after]=2010-01-01",
            "The operator of birthDate[after] does not exist; those of birthDate are: gt, gte, lt, lte, in, ne,"
            " exists.",
        ),
        ("id[in]=1", "The operator of id[in] does not exist; those of id are: none."),
        (
            "birthSexDescriptor[gt]=a",
            "The operator of birthSexDescriptor[gt] does not exist; those of birthSexDescriptor are: in, prefix, ne,"
            " exists.",
        ),
        ("studentUniqueId[in]=" + ",".join("a" * 101), "studentUniqueId[in] has 101 values; it may have 100."),
        ("orderBy=colour", "OrderBy must have query fields, once each; 'colour' is not one."),
        ("orderBy=birthDate,-birthDate", "OrderBy must have query fields, once each; '-birthDate' is not one."),
        ("orderBy=", "OrderBy must have query fields, once each; '' is not one."),
        ("orderBy=a,b,c,d,e", "OrderBy has 5 fields; it may have 4."),
    ],
)
def test_what_is_no_operator_or_order_is_refused_with_those_that_exist(api, students, query, message):
    response = api.get(f"/students?{query}")

    assert response.status_code == 400
    assert response.json()["type"] == "urn:ed-fi:api:bad-request:parameter-validation-failed"
    assert response.json()["errors"] == [message]


def test_values_that_do_not_parse_are_reported_with_their_names(api, students):
    response = api.get("/students?birthDate[gte]=soon&birthDate[in]=2010-01-01,later&birthCity[exists]=perhaps")

    assert response.status_code == 400
    assert response.json()["validationErrors"] == {
        "$.birthDate": [
            "The value 'soon' is not valid for birthDate[gte].",
            "The value 'later' is not valid for birthDate[in].",
        ],
        "$.birthCity": ["The value 'perhaps' is not valid for birthCity[exists]."],
    }


@pytest.mark.parametrize("name", ["colour[gte]", "birthDate[gte", "birthDate]gte[", "[gte]", "birthDate[gte][lt]"])
def test_other_names_are_unknown_fields(api, students, name):
    response = api.get("/students", QUERY_STRING=f"{name}=2010-01-01")

    assert response.status_code == 400
    assert response.json()["errors"] == [f"The query field '{name}' is not valid for this resource."]


@pytest.mark.parametrize(
    ("order", "found"),
    [
        ("birthDate", ["4", "1", "2", "3"]),
        ("-birthDate", ["3", "2", "1", "4"]),
        ("birthCity", ["2", "1", "4", "3"]),
        ("-birthCity,birthDate", ["3", "4", "1", "2"]),
        ("birthCity,-birthDate", ["2", "1", "4", "3"]),
        ("-birthCity,-birthDate", ["3", "1", "4", "2"]),
    ],
)
def test_pages_in_the_order_of_the_client(api, students, order, found):
    """Missing values are the first, and the last in descending order."""
    assert unique_ids(api.get(f"/students?orderBy={order}")) == found
    assert through_pages(api, f"orderBy={order}") == found


def test_pages_of_large_documents_go_on_in_any_order(api, students, monkeypatch):
    """A token has values of the last document, whose text is otherwise given up early."""
    monkeypatch.setattr(representation, "_LARGE", 1)

    assert through_pages(api, "orderBy=birthDate") == ["4", "1", "2", "3"]
    assert through_pages(api, "birthDate[gte]=2009-01-01") == ["1", "2", "3", "4"]


def through_pages(api, query):
    page = api.get(f"/students?{query}&limit=1")
    found = unique_ids(page)
    while "Next-Page-Token" in page:
        page = api.get(f"/students?{query}&pageSize=1&pageToken={page['Next-Page-Token']}")
        found += unique_ids(page)
    return found


def test_a_page_behind_a_document_that_was_changed_or_deleted_is_the_same(api, students):
    page = api.get("/students?orderBy=birthDate&limit=2")
    token = page["Next-Page-Token"]
    (first, second) = (body["id"] for body in page.json())
    api.delete(f"/students/{second}")
    body = STUDENT | {"studentUniqueId": "4", "lastSurname": "Lee", "birthDate": "2012-01-01"}
    assert api.put(f"/students/{first}", body | {"id": first}).status_code == 204

    assert unique_ids(api.get(f"/students?orderBy=birthDate&pageSize=5&pageToken={token}")) == ["2", "3", "4"]


def token_of(content):
    return base64.urlsafe_b64encode(json.dumps(content).encode()).decode().rstrip("=")


def test_a_token_of_another_order_or_a_made_up_one_is_refused(api, students):
    token = api.get("/students?orderBy=birthDate&limit=2")["Next-Page-Token"]
    name, row, values = json.loads(base64.urlsafe_b64decode(token + "=="))
    forged = [[name, row, [{}]], [name, "1", values], [name, row, []], [name, -1, values], [name, 2**64, values], {}]
    forged += [
        [name, True, values],
        [name, False, values],
        [name, 1.5, values],
        [name, None, values],
        [True],
        True,
        name,
    ]
    deep = "[" * 900 + "1234567890123456789" + "]" * 900
    in_rows = api.get("/students?limit=2")["Next-Page-Token"]

    for order, each in [
        ("-birthDate", token),
        ("birthDate", in_rows),
        ("birthDate", "a"),
        ("birthDate", base64.urlsafe_b64encode(f'["{name}",1,{deep}]'.encode()).decode().rstrip("=")),
        *(("birthDate", token_of(content)) for content in forged),
    ]:
        response = api.get(f"/students?orderBy={order}&pageSize=2&pageToken={each}")
        assert response.status_code == 400, each
        assert response.json()["errors"] == ["The page token provided was invalid."]
    assert api.get(f"/students?pageSize=2&pageToken={token}").status_code == 400
    assert (
        api.get(f"/students?orderBy=birthDate&pageSize=2&pageToken={token_of([name, row, values])}").status_code == 200
    )


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_token_is_an_error_of_the_server(api, students, data):
    """Those of an order with anything in the place of a part, those of rows, and any text."""
    token = api.get("/students?orderBy=birthDate&limit=2")["Next-Page-Token"]
    name, row, values = json.loads(base64.urlsafe_b64decode(token + "=="))
    scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5)
    anything = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3), max_leaves=6)
    part = st.one_of(st.just(name), st.just(row), st.just(values), anything)
    made = st.one_of(
        st.lists(part, max_size=4).map(token_of),
        st.tuples(st.just(name), anything, st.tuples(anything)).map(token_of),
        st.text(max_size=20),
        st.from_regex(r"-?[0-9]{1,20},-?[0-9]{1,20}", fullmatch=True).map(
            lambda text: base64.urlsafe_b64encode(text.encode()).decode()
        ),
    )
    drawn = quote(data.draw(made), safe="", errors="replace")

    for order in ("", "orderBy=birthDate&"):
        assert api.get(f"/students?{order}pageSize=2&pageToken={drawn}").status_code in (200, 400)


@pytest.mark.parametrize(
    ("value", "status"),
    [
        (r'"a\u0000"', 400),
        ("1234567890123456e999999", 400),
        ("1234567890123456e-999999", 400),
        ("1e308", 200),
        ("1234567890123456.5", 200),
        ("null", 200),
        ("true", 200),
    ],
)
def test_a_made_up_value_of_a_token_is_refused_if_no_body_can_have_it(api, students, value, status):
    token = api.get("/students?orderBy=birthDate&limit=2")["Next-Page-Token"]
    name, row, _ = json.loads(base64.urlsafe_b64decode(token + "=="))
    made_up = base64.urlsafe_b64encode(f'["{name}",{row},[{value}]]'.encode()).decode().rstrip("=")

    assert api.get(f"/students?orderBy=birthDate&pageSize=2&pageToken={made_up}").status_code == status


def test_numbers_with_more_digits_than_a_double_are_paged_through(api, documents, resource_named):
    """Decimals are in the token with all their digits."""
    resource = resource_named("DisciplineIncident")
    body = documents.minimal_body(resource)
    documents.store_targets(resource, body)
    for name, cost in (("A1", "123456789012345.6789"), ("A2", "2.5")):
        response = api.post("/disciplineIncidents", body | {"incidentIdentifier": name, "incidentCost": cost})
        assert response.status_code == 201, response.content

    page = api.get("/disciplineIncidents?orderBy=-incidentCost&limit=1")
    token = page["Next-Page-Token"]
    second = api.get(f"/disciplineIncidents?orderBy=-incidentCost&pageSize=1&pageToken={token}")

    assert b"123456789012345.6789" in page.content
    assert [each["incidentIdentifier"] for each in second.json()] == ["A2"]


def test_partitions_are_of_comparisons_and_have_no_order(api, students):
    [token] = api.get("/students/partitions?birthDate[gte]=2010-01-01").json()["pageTokens"]

    page = api.get(f"/students?birthDate[gte]=2010-01-01&pageSize=5&pageToken={token}")
    assert unique_ids(page) == ["1", "2", "3"]
    assert api.get("/students/partitions?orderBy=birthDate").json()["errors"] == [
        "The 'orderBy' parameter is not supported by the partitions endpoint."
    ]


def test_change_queries_have_no_operators_and_no_order(api):
    for query in ("birthDate[gte]=2010-01-01", "orderBy=birthDate"):
        assert api.get(f"/students/deletes?{query}").status_code == 400


@pytest.fixture
def at_most_two(settings):
    """Documents that are looked at one by one."""
    settings.EDFI_API = {**settings.EDFI_API, "MAX_ROWS_WITHOUT_INDEX": 2}


@pytest.mark.parametrize(
    ("query", "index"),
    [
        ("birthDate[gte]=2010-01-01", "ed-fi/students.birthDate"),
        ("birthCity[exists]=true", "ed-fi/students.birthCity"),
        ("lastSurname[prefix]=o", "ed-fi/students.lastSurname[prefix]"),
        ("orderBy=lastSurname,-birthDate", "ed-fi/students.lastSurname,-birthDate"),
        ("firstName=Mae&birthDate[gte]=2010-01-01", "ed-fi/students.birthDate"),
    ],
)
def test_without_an_index_the_other_conditions_have_to_leave_few_documents(api, students, at_most_two, query, index):
    for options in ("", "&totalCount=true", "&limit=1", "&minChangeVersion=0"):
        response = api.get(f"/students?{query}{options}")
        assert response.status_code == 400
        assert response.json()["errors"] == [
            "Other conditions have to leave at most 2 documents, since no index answers the whole query. An operator"
            f" can create it: manage.py create_query_index {index}"
        ]
    if "orderBy" not in query:
        assert api.get(f"/students/partitions?{query}").status_code == 400


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("lastSurname=Lee&birthDate[gte]=2010-01-01", ["3"]),
        ("lastSurname=Lee&orderBy=birthDate", ["4", "3"]),
        ("studentUniqueId[in]=1,2,3&orderBy=-birthDate", ["3", "2", "1"]),
        ("studentUniqueId[in]=2,3,4&birthDate[lt]=2010-01-01", ["4"]),
    ],
)
def test_within_few_documents_everything_is_answered(api, students, at_most_two, query, found):
    assert unique_ids(api.get(f"/students?{query}")) == found


def test_fields_are_the_members_of_the_answer_with_those_of_the_identity(api, students):
    [body] = api.get("/students?studentUniqueId=1&fields=lastSurname,birthCity").json()
    always = {"id", "studentUniqueId", "_etag", "_lastModifiedDate"}

    assert body.keys() == always | {"lastSurname", "birthCity"}
    assert (body["lastSurname"], body["birthCity"]) == ("Ortiz", "Lyon")
    item = api.get(f"/students/{body['id']}?fields=id, birthDate ")
    assert item.json().keys() == always | {"birthDate"}
    assert item["ETag"] == f'"{body["_etag"]}"'
    assert api.get("/students?fields=birthCity&orderBy=birthDate&limit=1")["Next-Page-Token"]


def test_a_reference_is_answered_as_a_whole(api, documents, resource_named):
    documents.store(resource_named("StudentSchoolAssociation"))
    [whole] = api.get("/studentSchoolAssociations").json()

    [body] = api.get("/studentSchoolAssociations?fields=schoolReference").json()

    assert body == {name: whole[name] for name in body}
    assert body.keys() == {"id", "entryDate", "schoolReference", "studentReference", "_etag", "_lastModifiedDate"}


@pytest.mark.parametrize("path", ["/students?fields=", "/students/{id}?fields="])
@pytest.mark.parametrize("name", ["colour", "birthdate", "studentReference.studentUniqueId", "", "_ext2"])
def test_what_is_no_member_is_refused(api, students, path, name):
    [body] = api.get("/students?limit=1").json()

    response = api.get(path.format(id=body["id"]) + name)

    assert response.status_code == 400
    assert response.json()["errors"] == [f"Fields must have members of the resource; '{name}' is not one."]
