"""`/v3/vendors`: rules, upserts, lists, and what goes along with a vendor."""

import pytest

from edfi_api.core.security.models import ApiClient, Application, Vendor
from tests.conftest import DATA, http
from tests.features.management_api.managing import APPLICATION, VENDOR, Managing, created_id


def test_a_vendor_is_created_read_changed_and_removed(management: Managing) -> None:
    made = management.post("/v3/vendors", VENDOR)
    id_ = created_id(made)
    assert made.status_code == 201
    assert made.content == b""
    assert made.headers["Location"] == f"http://testserver/config/v3/vendors/{id_}"
    assert management.get(f"/v3/vendors/{id_}").json() == {"id": id_} | {
        "company": "Lakeside",
        "contactName": "Mae Ortiz",
        "contactEmailAddress": "mae@lakeside.example",
        "namespacePrefixes": "uri://lakeside.example",
    }

    changed = VENDOR | {"id": id_, "company": "Lake", "namespacePrefixes": "uri://a, ,uri://b", "contactName": None}
    assert management.put(f"/v3/vendors/{id_}", changed).status_code == 204
    found = management.get(f"/v3/vendors/{id_}").json()
    assert (found["company"], found["namespacePrefixes"], found["contactName"]) == ("Lake", "uri://a,uri://b", "")

    removed = management.delete(f"/v3/vendors/{id_}")
    assert (removed.status_code, removed.content) == (204, b"")
    gone = management.get(f"/v3/vendors/{id_}")
    assert gone.status_code == 404
    assert gone.headers["Content-Type"] == "application/problem+json"
    assert gone.json() == {
        "detail": f"Vendor {id_} not found. It may have been recently deleted.",
        "type": "urn:ed-fi:api:not-found",
        "title": "Not Found",
        "status": 404,
        "correlationId": gone.headers["TraceId"],
        "validationErrors": {},
        "errors": [],
    }


def test_a_company_that_exists_is_updated(management: Managing, vendor: int) -> None:
    again = management.post("/v3/vendors", VENDOR | {"contactName": "Other"})

    assert (again.status_code, created_id(again)) == (200, vendor)
    assert [row["contactName"] for row in management.get("/v3/vendors").json()] == ["Other"]


def test_the_company_of_another_vendor_cannot_be_had(management: Managing, vendor: int) -> None:
    other = created_id(management.post("/v3/vendors", VENDOR | {"company": "Other"}))

    answer = management.put(f"/v3/vendors/{other}", VENDOR | {"id": other})

    assert answer.status_code == 400
    assert answer.json()["type"] == "urn:ed-fi:api:bad-request:data"
    assert answer.json()["detail"] == "Data validation failed. See 'validationErrors' for details."
    assert answer.json()["validationErrors"] == {
        "Name": ["A vendor name already exists in the database. Please enter a unique name."]
    }


@pytest.mark.parametrize(
    ("changes", "errors"),
    [
        ({"company": None}, {"Company": ["'Company' must not be empty."]}),
        ({"company": "  "}, {"Company": ["'Company' must not be empty."]}),
        (
            {"company": "x" * 257},
            {"Company": ["The length of 'Company' must be 256 characters or fewer. You entered 257 characters."]},
        ),
        (
            {"contactName": "", "contactEmailAddress": ""},
            {
                "ContactName": ["'Contact Name' must not be empty."],
                "ContactEmailAddress": [
                    "'Contact Email Address' must not be empty.",
                    "'Contact Email Address' is not a valid email address.",
                ],
            },
        ),
        (
            {"contactEmailAddress": "a@b@c"},
            {"ContactEmailAddress": ["'Contact Email Address' is not a valid email address."]},
        ),
        ({"namespacePrefixes": " , "}, {}),
        (
            {"namespacePrefixes": "uri://a," + "x" * 129},
            {"NamespacePrefixes": ["Each NamespacePrefix length must be 128 characters or fewer."]},
        ),
        ({"company": 5}, {"$": ["The request body contains invalid JSON."]}),
        ({"company": "a\x00b"}, {"$": ["The request body contains invalid JSON."]}),
        ({"company": "a\nb"}, {"Company": ["'Company' must not contain control characters."]}),
    ],
)
def test_rules_of_a_vendor(management: Managing, changes: dict, errors: dict) -> None:
    answer = management.post("/v3/vendors", VENDOR | changes)

    assert (answer.json()["validationErrors"] if answer.content else {}) == errors
    assert answer.status_code == (400 if errors else 201)


def test_names_of_members_match_in_any_case_and_unknown_ones_are_ignored(management: Managing) -> None:
    body = {name.upper(): value for name, value in VENDOR.items()} | {"note": 1}

    assert management.post("/v3/vendors", body).status_code == 201


def test_lists_are_ordered_paged_and_filtered(management: Managing) -> None:
    names = ["Ash", "birch", "Cedar"]
    ids = [created_id(management.post("/v3/vendors", VENDOR | {"company": name})) for name in names]

    def listed(query: str) -> list[str]:
        return [row["company"] for row in management.get(f"/v3/vendors?{query}").json()]

    assert listed("") == names
    assert listed("orderBy=ID&direction=Descending") == names[::-1]
    assert listed("offset=1&limit=1") == ["birch"]
    assert listed("company=Ash") == ["Ash"]
    assert listed("company=ash") == []
    assert listed(f"id={ids[1]}&company=birch&unknown=1") == ["birch"]
    assert listed("namespacePrefixes=uri://lakeside.example") == names
    assert listed("company=%00';DROP") == []


@pytest.mark.parametrize(
    ("query", "errors"),
    [
        (
            "offset=-1&limit=0&direction=up&orderBy=nothing",
            [
                "'offset' must be greater than or equal to 0.",
                "'limit' must be greater than 0.",
                "The direction query parameter must be one of: asc, ascending, desc, descending.",
                "'orderBy' is not a valid field. Allowed values: id, company, contactName, contactEmailAddress.",
            ],
        ),
        ("limit=many", ["The request contains one or more invalid parameters."]),
        ("id=4294967296", ["The request contains one or more invalid parameters."]),
    ],
)
def test_wrong_parameters_of_a_list(management: Managing, query: str, errors: list[str]) -> None:
    answer = management.get(f"/v3/vendors?{query}")

    assert answer.status_code == 400
    assert answer.json()["type"] == "urn:ed-fi:api:bad-request:parameter"
    assert answer.json()["detail"] == "Parameter validation failed. See 'errors' for details."
    assert answer.json()["errors"] == errors


def test_the_id_of_the_body_is_that_of_the_address(management: Managing, vendor: int) -> None:
    answer = management.put(f"/v3/vendors/{vendor}", VENDOR | {"id": vendor + 1, "company": ""})

    assert answer.json()["validationErrors"] == {"Id": ["Request body id must match the id in the url."]}


def test_a_vendor_takes_applications_clients_and_tokens_along(
    management: Managing, vendor: int, application: dict
) -> None:
    form = {"grant_type": "client_credentials", "client_id": application["key"], "client_secret": application["secret"]}
    token = http().post("/oauth/token", form, content_type="application/json").json()["access_token"]
    ways = {"HTTP_AUTHORIZATION": f"Bearer {token}"}

    assert management.delete(f"/v3/vendors/{vendor}").status_code == 204

    assert (Vendor.objects.count(), Application.objects.count(), ApiClient.objects.count()) == (0, 0, 0)
    assert http().get(f"{DATA}/students", **ways).status_code == 401


def test_applications_of_a_vendor_are_listed_by_name(management: Managing, vendor: int, application: dict) -> None:
    management.post("/v3/applications", APPLICATION | {"vendorId": vendor, "applicationName": "Assessment"})

    rows = management.get(f"/v3/vendors/{vendor}/applications").json()

    assert [row["applicationName"] for row in rows] == ["Assessment", "Roster"]
    assert management.get("/v3/vendors/0/applications").status_code == 404
