"""`/v3/dataStores`, contexts, derivatives, tenants: rules, masked passwords, and what tenants see of each other."""

import pytest

from edfi_api.core.data_stores.connection_strings import decrypt
from edfi_api.core.data_stores.models import DataStore, DataStoreDerivative
from edfi_api.core.data_stores.stores import create_tenant
from tests.features.management_api.managing import APPLICATION, VENDOR, Managing, created_id

CONNECTION = "host=db7;port=5432;username=edfi;password=not-to-be-shown;database=lakeside;"
MASKED = "host=db7;port=5432;username=edfi;database=lakeside;password=***"
STORE = {"dataStoreType": "Production", "name": "2027", "connectionString": CONNECTION}

_OTHER_TYPE = "DerivativeType must be either 'ReadReplica' or 'Snapshot'."
MASKED_ELSEWHERE = "host=db8;port=5432;username=edfi;database=lakeside;password=***"
_IS_MASKED = {"ConnectionString": ["It cannot be used: a mask stands in the place of its password."]}


@pytest.fixture
def store(management: Managing) -> int:
    return created_id(management.post("/v3/dataStores", STORE))


def test_a_data_store_shows_no_password(management: Managing) -> None:
    made = management.post("/v3/dataStores", STORE)
    id_ = created_id(made)

    assert made.json() == {"id": id_, "status": 201, "title": "New DataStore 2027 has been created successfully."}
    shown = management.get(f"/v3/dataStores/{id_}").json()
    assert shown == {
        "id": id_,
        "dataStoreType": "Production",
        "name": "2027",
        "connectionString": MASKED,
        "dataStoreContexts": [],
        "dataStoreDerivatives": [],
        "state": "online",
    }
    assert decrypt(DataStore.objects.get().connection) == CONNECTION


def test_a_put_changes_keeps_or_removes_the_connection_string(management: Managing, store: int) -> None:
    def put(**changes: str | None) -> str | None:
        body = {"id": store, "dataStoreType": "Sandbox", "name": "2028"} | changes
        assert management.put(f"/v3/dataStores/{store}", body).status_code == 204
        stored = DataStore.objects.get().connection
        return stored and decrypt(stored)

    assert put() == CONNECTION
    assert put(connectionString=MASKED) == CONNECTION
    assert put(connectionString="host=db8 dbname=x") == "host=db8 dbname=x"
    assert put(connectionString=None) is None
    assert management.get(f"/v3/dataStores/{store}").json()["name"] == "2028"
    assert management.put(f"/v3/dataStores/{store}/state", {"state": "readOnly"}).status_code == 204
    assert management.get("/v3/dataStores?name=2028").json()[0]["state"] == "readOnly"
    assert management.put(f"/v3/dataStores/{store}/state", {"state": "gone"}).status_code == 400


@pytest.mark.parametrize("sent", [MASKED_ELSEWHERE, "***", "postgresql://edfi:***@db7/lakeside"])
def test_a_masked_connection_string_is_not_stored(management: Managing, store: int, sent: str) -> None:
    of_store = {"dataStoreType": "Sandbox", "name": "2028", "connectionString": sent}
    derivative = {"dataStoreId": store, "derivativeType": "Snapshot", "connectionString": CONNECTION}
    its_id = created_id(management.post("/v3/dataStoreDerivatives", derivative))
    masked_derivative = derivative | {"connectionString": sent}
    instance = {"name": "2029", "instanceType": "x", "connectionString": sent}
    of_instance = {"odsInstanceId": store, "derivativeType": "ReadReplica", "connectionString": sent}

    answers = [
        management.post("/v3/dataStores", of_store),
        management.put(f"/v3/dataStores/{store}", {"id": store} | of_store),
        management.post("/v3/dataStoreDerivatives", masked_derivative),
        management.put(f"/v3/dataStoreDerivatives/{its_id}", {"id": its_id} | masked_derivative),
    ]
    of_version_2 = [
        management.post("/v2/odsInstances", instance),
        management.put(f"/v2/odsInstances/{store}", instance),
        management.post("/v2/odsInstanceDerivatives", of_instance),
        management.put(f"/v2/odsInstanceDerivatives/{its_id}", of_instance),
    ]

    assert [(each.status_code, each.json()["validationErrors"]) for each in answers] == [(400, _IS_MASKED)] * 4
    assert [each.status_code for each in of_version_2] == [400] * 4
    assert {"ConnectionString"} == {key for each in of_version_2 for key in each.json()["errors"]}
    stored = [*DataStore.objects.all(), *DataStoreDerivative.objects.all()]
    assert [decrypt(each.connection) for each in stored] == [CONNECTION, CONNECTION]


def test_hosts_of_data_stores_are_a_closed_list(management: Managing, store: int, configured) -> None:
    configured(STORE_HOSTS=("db9",))
    refused = {
        "ConnectionString": [
            "It cannot be used: its host is neither that of the control database nor in MEADOWLARK_STORE_HOSTS."
        ]
    }

    def post(connection: str) -> object:
        answer = management.post("/v3/dataStores", STORE | {"connectionString": connection})
        return answer.status_code if answer.status_code == 201 else answer.json()["validationErrors"]

    assert post("host=127.0.0.1 port=22 dbname=x") == refused
    assert post("host=db9,db8 dbname=x") == refused
    assert post("host=db9 dbname=x") == 201
    assert post("main") == 201
    derivative = {"dataStoreId": store, "derivativeType": "Snapshot", "connectionString": "host=db8 dbname=x"}
    answer = management.post("/v3/dataStoreDerivatives", derivative)
    assert (answer.status_code, answer.json()["validationErrors"]) == (400, refused)
    status = management.get(f"/v3/dataStores/{store}/status").json()
    assert (status["answers"], status["reason"]) == (
        False,
        "its connection string cannot be used: its host is neither that of the control database nor in "
        "MEADOWLARK_STORE_HOSTS",
    )


def test_a_removed_data_store_takes_its_parts_along(management: Managing, store: int, vendor: int) -> None:
    management.post("/v3/applications", APPLICATION | {"vendorId": vendor, "dataStoreIds": [store]})
    context = {"dataStoreId": store, "contextKey": "schoolYear", "contextValue": "2027"}
    management.post("/v3/dataStoreContexts", context)
    listed = management.get(f"/v3/dataStores/{store}/applications?limit=1").json()
    assert [row["applicationName"] for row in listed] == ["Roster"]

    assert management.delete(f"/v3/dataStores/{store}").status_code == 204

    assert management.get("/v3/dataStoreContexts").json() == []
    assert management.get("/v3/applications").json()[0]["dataStoreIds"] == []
    gone = management.get(f"/v3/dataStores/{store}/applications")
    assert gone.json()["detail"] == f"DataStore {store} not found. It may have been recently deleted."


@pytest.mark.parametrize(
    ("path", "body", "errors"),
    [
        (
            "dataStores",
            {"dataStoreType": "x" * 51, "name": None, "connectionString": "x" * 1001},
            {
                "DataStoreType": [
                    "The length of 'Data Store Type' must be 50 characters or fewer. You entered 51 characters."
                ],
                "Name": ["'Name' must not be empty."],
                "ConnectionString": [
                    "The length of 'Connection String' must be 1000 characters or fewer. You entered 1001 characters."
                ],
            },
        ),
        (
            "dataStoreContexts",
            {"dataStoreId": -1, "contextKey": "k"},
            {
                "DataStoreId": ["'Data Store Id' must be greater than '0'."],
                "ContextValue": ["'Context Value' must not be empty."],
            },
        ),
        (
            "dataStoreContexts",
            {"dataStoreId": 1, "contextKey": "k", "contextValue": "data"},
            {"ContextValue": ["'data' is reserved."]},
        ),
        (
            "dataStoreDerivatives",
            {"derivativeType": "", "connectionString": "x" * 1001},
            {
                "DataStoreId": ["DataStoreId must be greater than 0."],
                "DerivativeType": ["DerivativeType is required.", _OTHER_TYPE],
                "ConnectionString": ["ConnectionString must be 1000 characters or fewer."],
            },
        ),
        (
            "dataStoreDerivatives",
            {"dataStoreId": 1, "derivativeType": "snapshot"},
            {"DerivativeType": [_OTHER_TYPE]},
        ),
    ],
)
def test_rules(management: Managing, path: str, body: dict, errors: dict) -> None:
    answer = management.post(f"/v3/{path}", body)

    assert (answer.status_code, answer.json()["validationErrors"]) == (400, errors)


def test_contexts(management: Managing, store: int) -> None:
    body = {"dataStoreId": store, "contextKey": "schoolYear", "contextValue": "2027"}
    made = management.post("/v3/dataStoreContexts", body)
    id_ = created_id(made)

    assert made.json() == {"id": id_}
    assert management.get(f"/v3/dataStoreContexts/{id_}").json() == {"id": id_} | body
    assert management.get(f"/v3/dataStores/{store}").json()["dataStoreContexts"] == [{"id": id_} | body]
    taken = management.post("/v3/dataStoreContexts", body | {"contextKey": "SCHOOLYEAR"})
    assert taken.json()["validationErrors"] == {
        "ContextKey": [f"Data store context with DataStoreId '{store}' and ContextKey 'SCHOOLYEAR' already exists."]
    }
    nowhere = management.post("/v3/dataStoreContexts", body | {"dataStoreId": 99999})
    assert (nowhere.status_code, nowhere.json()["detail"]) == (409, "Reference 'DataStoreId' does not exist.")
    changed = {"id": id_} | body | {"contextValue": "2028"}
    assert management.put(f"/v3/dataStoreContexts/{id_}", changed).status_code == 204
    assert management.delete(f"/v3/dataStoreContexts/{id_}").status_code == 204
    assert management.get(f"/v3/dataStoreContexts/{id_}").json()["detail"] == "Data store context not found"


def test_derivatives(management: Managing, store: int) -> None:
    body = {"dataStoreId": store, "derivativeType": "Snapshot", "connectionString": CONNECTION}
    made = management.post("/v3/dataStoreDerivatives", body)
    id_ = created_id(made)
    shown = {"id": id_} | body | {"connectionString": MASKED}

    assert made.json()["title"] == "New DataStoreDerivative of type Snapshot has been created successfully."
    assert management.get(f"/v3/dataStoreDerivatives/{id_}").json() == shown
    assert management.get("/v3/dataStores").json()[0]["dataStoreDerivatives"] == [shown]
    nowhere = management.post("/v3/dataStoreDerivatives", body | {"dataStoreId": 99999})
    assert (nowhere.status_code, nowhere.json()["detail"]) == (409, "The specified DataStore does not exist.")
    assert (
        management.put(f"/v3/dataStoreDerivatives/{id_}", shown | {"derivativeType": "ReadReplica"}).status_code == 204
    )
    assert management.delete(f"/v3/dataStoreDerivatives/{id_}").status_code == 204


def test_tenants_exist_only_with_the_setting(management: Managing, configured) -> None:
    assert management.get("/v3/tenants").status_code == 404

    configured(MULTI_TENANCY=True)
    made = management.post("/v3/tenants", {"name": "Lakeside"})

    assert made.json()["title"] == "New Tenant Lakeside has been created successfully."
    assert management.get(f"/v3/tenants/{created_id(made)}").json()["name"] == "Lakeside"
    assert management.post("/v3/tenants", {"name": "LAKESIDE"}).json()["validationErrors"] == {
        "Name": ["A tenant name already exists in the database. Please enter a unique name."]
    }
    characters = "Tenant name must contain only alphanumeric characters, hyphens, and underscores."
    assert management.post("/v3/tenants", {"name": ""}).json()["validationErrors"] == {
        "Name": ["'Name' must not be empty.", characters]
    }
    assert management.post("/v3/tenants", {"name": "data"}).json()["validationErrors"] == {
        "Name": ["'data' is reserved."]
    }
    assert management.delete(f"/v3/tenants/{created_id(made)}").status_code == 405


def test_the_header_of_the_tenant_is_needed(management: Managing, configured) -> None:
    configured(MULTI_TENANCY=True)

    missing = management.get("/v3/vendors")
    unknown = management.get("/v3/vendors", HTTP_TENANT="Lake<b>side")

    assert (missing.status_code, missing.json()["detail"]) == (
        400,
        "The 'Tenant' header is required when multi-tenancy is enabled",
    )
    assert (unknown.status_code, unknown.json()["detail"]) == (400, "Invalid tenant: Lakebside")


def test_what_another_tenant_has_does_not_exist(management: Managing, configured) -> None:
    configured(MULTI_TENANCY=True)
    for name in ("One", "Two"):
        create_tenant(name)
    one, two = {"HTTP_TENANT": "One"}, {"HTTP_TENANT": "two"}
    vendor = created_id(management.post("/v3/vendors", VENDOR, **one))
    store = created_id(management.post("/v3/dataStores", STORE, **one))
    claim_set = created_id(management.post("/v3/claimSets", {"claimSetName": "Mine"}, **one))
    body = APPLICATION | {"vendorId": vendor, "dataStoreIds": [store], "claimSetName": "Mine"}
    application = created_id(management.post("/v3/applications", body, **one))

    places = {"vendors": vendor, "dataStores": store, "claimSets": claim_set, "applications": application}
    for path, id_ in places.items():
        own, other = (management.get(f"/v3/{path}/{id_}", **tenant) for tenant in (one, two))
        nothing = management.get(f"/v3/{path}/99999", **two)
        assert (own.status_code, other.status_code) == (200, 404), path
        without = {"correlationId": "", "detail": ""}
        assert other.json() | without == nothing.json() | without
        assert management.delete(f"/v3/{path}/{id_}", **two).status_code == 404
    assert management.get("/v3/vendors", **two).json() == []
    assert management.post("/v3/applications", body, **two).json()["detail"] == "Reference 'VendorId' does not exist."
    theirs = created_id(management.post("/v3/vendors", VENDOR, **two))
    of_other = management.post("/v3/applications", body | {"vendorId": theirs}, **two)
    assert of_other.json()["detail"] == "Data store does not exist."
    made = management.post("/v3/applications", body | {"vendorId": theirs, "dataStoreIds": []}, **two)
    assert made.status_code == 201
    assert management.get(f"/v3/dataStores/{store}", **one).json()["tenantId"]
    names = {row["claimSetName"] for row in management.get("/v3/claimSets", **two).json()}
    assert ("SISVendor" in names, "Mine" in names) == (True, False)
