"""Servers with tenants: addresses, what a client of one tenant reaches of another's, and what is public."""

import json

import pytest
from django.core.management.base import CommandError

from edfi_api.core.data_stores.models import State
from edfi_api.core.data_stores.stores import create_data_store, create_tenant
from edfi_api.core.security.clients import create_client
from edfi_api.core.security.models import ApiClient
from edfi_api.core.security.profiles.loading import read_definitions, store_profiles
from tests.conftest import http
from tests.core.data_stores.problems import NO_STORES, NOT_FOUND, problem, refusal
from tests.core.data_stores.tenants import Tenant
from tests.core.security.profiles.definitions import profile_xml
from tests.support.factories import STUDENT
from tests.support.management_commands import run

ROOT = "http://testserver"
# One path of each route with data; the id is replaced by that of a student of the other tenant.
PATHS = [
    "/data/ed-fi/students",
    "/data/ed-fi/students/{id}",
    "/data/ed-fi/students/deletes",
    "/data/ed-fi/students/keyChanges",
    "/data/ed-fi/students/partitions",
    "/data/unknown/unknown",
    "/relations/v1/ed-fi/students/{id}",
    "/changeQueries/v1/availableChangeVersions",
    "/history/v1/ed-fi/students/{id}",
    "/validation/v1/validationResults",
]


@pytest.fixture
def two(configured, db, store_databases):
    """Tenants with the same context, each with a database."""
    configured("schoolYear", MULTI_TENANCY=True)
    made = iter([store_databases.create(), store_databases.create()])

    def store(tenant, **context):
        return create_data_store("2027", tenant=tenant, context=context, connection=next(made), state=State.ONLINE)

    return Tenant("Lakeside", store, {"schoolYear": "2027"}), Tenant("Grand-Bend", store, {"schoolYear": "2027"})


@pytest.fixture
def alone(configured, db, store_databases):
    """A tenant for tests that write no documents, on a server without qualifiers."""
    configured(MULTI_TENANCY=True)

    def store(tenant):
        return create_data_store("main", tenant=tenant, connection=store_databases.shared(), state=State.ONLINE)

    return Tenant("Lakeside", store, {})


def _bad_request(detail, error):
    return 400, refusal(400, "bad-request", "Bad Request", detail)[1] | {"errors": [error]}


MISSING = _bad_request(
    "The tenant identifier is required when multi-tenancy is enabled. "
    "Include the tenant as the first segment of the URL path.",
    "Missing tenant identifier in URL path.",
)
MALFORMED = _bad_request(
    "The tenant identifier has an invalid format.",
    "Tenant identifier must contain only alphanumeric characters, hyphens, and underscores.",
)
TOO_LONG = _bad_request(
    "The tenant identifier has an invalid format.", "Tenant identifier exceeds maximum length of 256 characters."
)


@pytest.mark.parametrize(
    "path", [*PATHS, "/batch", "/v5.2/ed-fi/students", "/DATA/ed-fi/students", "/oauth/token_info"]
)
def test_routes_with_data_need_a_tenant_before_a_token(alone, path, standard):
    path = path if standard == "5.2" else path.replace("v5.2", "v3.3b")

    assert problem(http().get(path)) == MISSING
    assert problem(http().get(f"/lake%20side{path}")) == MALFORMED
    assert problem(http().get(f"/{'x' * 257}{path}")) == TOO_LONG
    assert http().get(f"/lakeside{path}").status_code in (401, 405)


@pytest.mark.parametrize("address", ["/Lakeside", "/lakeside", "/LAKESIDE", "/%4cakeside"])
def test_the_case_of_a_tenant_does_not_count(alone, address):
    assert alone.at(address).get("/students").json() == []


def test_a_client_reaches_nothing_of_another_tenant(two):
    lakeside, grand_bend = two
    theirs = grand_bend.at("/grand-bend/2027")
    assert theirs.get("/students").status_code == 200
    location = theirs.post("/students", STUDENT)["Location"]
    assert location.startswith(f"{ROOT}/grand-bend/2027/data/ed-fi/students/")
    id_ = location.rpartition("/")[2]
    ours = lakeside.at("/lakeside/2027")
    assert ours.get("/students").json() == []
    assert ours.get(f"/students/{id_}").status_code == 404

    for path in PATHS:
        for method, body in (("get", None), ("post", STUDENT), ("put", STUDENT | {"id": id_}), ("delete", None)):
            answers = [
                problem(ours.at(address).request(method, path.format(id=id_), body))
                for address in ("/grand-bend/2027", "/nobody/2027", "/lakeside/2099", "/grand-bend", "/lakeside")
            ]
            assert answers == [NOT_FOUND] * 5, (method, path)
    batch = [{"op": "upsert", "resource": "/ed-fi/students", "body": STUDENT}]
    assert problem(ours.at("/grand-bend/2027").request("post", "/batch", batch)) == NOT_FOUND
    assert [each["studentUniqueId"] for each in theirs.get("/students").json()] == ["604822"]
    assert ours.get("/students").json() == []


def test_token_information_is_that_of_the_own_tenant(two):
    client = two[0].at("/lakeside")

    def described(address):
        return problem(client.at(address).request("post", "/oauth/token_info", {"token": client.token}))

    assert client.request("post", "/oauth/token_info", {"token": client.token}).json()["active"] is True
    for address in ("/grand-bend", "/grand-bend/2027", "/nobody", "/lakeside/2099"):
        assert described(address) == NOT_FOUND


def test_credentials_get_no_token_at_the_address_of_another_tenant(two):
    lakeside = two[0]

    for address in ("", "/lakeside", "/LakeSide/2027", "/lakeside/2099"):
        assert lakeside.token(address).status_code == 200
    for address in ("/grand-bend", "/grand-bend/2027", "/nobody"):
        refused = lakeside.token(address)
        assert (refused.status_code, refused.json()["error"]) == (401, "invalid_client")


def test_a_client_without_data_stores_is_denied(alone):
    ApiClient.objects.get().data_stores.clear()

    assert problem(alone.at("/lakeside").get("/students")) == NO_STORES


def test_a_client_without_tenant_reaches_none(alone):
    credentials = create_client("nobody's", "EdFiSandbox")
    ApiClient.objects.get(name="nobody's").data_stores.add(
        create_data_store("main", connection="dbname=x", state=State.ONLINE)
    )
    alone.credentials = credentials

    assert problem(alone.at("/lakeside").get("/students")) == NOT_FOUND
    assert problem(alone.at("/nobody").get("/students")) == NOT_FOUND
    assert alone.token("/lakeside").status_code == 401


def test_a_client_of_a_tenant_reaches_nothing_while_tenants_are_off(alone, configured):
    configured(MULTI_TENANCY=False)

    assert problem(alone.at("").get("/students")) == NOT_FOUND
    ApiClient.objects.get().data_stores.clear()
    alone.credentials = alone.credentials
    assert problem(alone.at("").get("/students")) == NO_STORES


def test_profiles_of_another_tenant_do_not_exist(two):
    profile = profile_xml("Student", "IncludeOnly", "IncludeAll", name="Portal")
    store_profiles(read_definitions(profile), by="tests", tenant=two[1].row)
    accept = {"HTTP_ACCEPT": "application/vnd.ed-fi.student.portal.readable+json"}
    unknown = {"HTTP_ACCEPT": "application/vnd.ed-fi.student.nothing.readable+json"}

    theirs = two[1].at("/grand-bend/2027").get("/students", **accept)
    ours = two[0].at("/lakeside/2027").get("/students", **accept)
    nothing = two[0].at("/lakeside/2027").get("/students", **unknown)

    assert theirs.status_code == 200
    assert (ours.status_code, ours.json()["errors"]) == (
        nothing.status_code,
        [text.replace("nothing", "portal") for text in nothing.json()["errors"]],
    )
    path = "/metadata/specifications"
    for address, is_listed in (("/grand-bend", True), ("/lakeside", False), ("", False)):
        assert ("Portal" in http().get(f"{address}{path}").content.decode()) is is_listed
        found = http().get(f"{address}{path}/profiles/portal/resources-spec.json")
        assert found.status_code == (200 if is_listed else 404)


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("/", "/{tenant}/{schoolYear}"),
        ("/lakeside", "/lakeside/{schoolYear}"),
        ("/LakeSide/2027/", "/LakeSide/2027"),
    ],
)
def test_missing_segments_are_placeholders(configured, db, path, shown):
    configured("schoolYear", MULTI_TENANCY=True)
    create_tenant("Lakeside")

    urls = http().get(path).json()["urls"]

    assert urls["dataManagementApi"] == f"{ROOT}{shown}/data"
    assert urls["oauth"] == f"{ROOT}{shown}/oauth/token"


@pytest.mark.parametrize("path", ["", "/", "/metadata", "/metadata/specifications", "/metadata/xsd", "/2027/metadata"])
def test_unknown_tenants_have_no_metadata(configured, db, path):
    configured("schoolYear", MULTI_TENANCY=True)

    answer = http().get(f"/nobody{path}")

    assert answer.status_code == 404
    assert answer.json() == {
        "detail": "The specified resource could not be found.",
        "type": "urn:ed-fi:api:not-found",
        "title": "Not Found",
        "status": 404,
    }


def test_only_the_values_of_the_tenant_in_the_address_are_shown(two):
    def variables(address):
        document = http().get(f"{address}/metadata/specifications/relations-spec.json").json()
        [server] = document["servers"]
        assert server["url"].startswith(ROOT + "/{tenant}/{schoolYear}/")
        return server["variables"]

    create_data_store("2031", tenant=two[1].row, context={"schoolYear": "2031"})
    assert variables("") == {
        "tenant": {"default": "", "description": "Tenant"},
        "schoolYear": {"default": "", "description": "School Year"},
    }
    assert variables("/lakeSide") == {
        "tenant": {"default": "lakeSide", "description": "Tenant", "enum": ["lakeSide"]},
        "schoolYear": {"default": "2027", "description": "School Year", "enum": ["2027"]},
    }
    assert variables("/grand-bend")["schoolYear"]["enum"] == ["2031", "2027"]


def test_log_lines_have_the_tenant(alone, log):
    client = alone.at("/lakeside")
    client.get("/nothing")
    client.at("/nobody").get("/students")

    found = [line for line in log.requests if "tenant" in line]
    assert [(line["status"], line["tenant"]) for line in found] == [(404, "Lakeside"), (404, "Lakeside")]


def test_commands_about_tenants(configured, db, second_server, store_databases, tmp_path):
    configured("schoolYear", MULTI_TENANCY=True)
    run("create_tenant", "Lakeside")
    run("create_tenant", "Grand-Bend")
    with pytest.raises(CommandError, match="There is a tenant Lakeside already"):
        run("create_tenant", "LAKESIDE")
    with pytest.raises(CommandError, match="'data' is reserved"):
        run("create_tenant", "data")
    with pytest.raises(CommandError, match=r"Say whose: --tenant\. There are: Grand-Bend, Lakeside"):
        run("provision_data_store", "2027", "--url", store_databases.shared())
    for tenant in ("lakeside", "grand-bend"):
        connection = f"dbname={tenant}"
        create_data_store("2027", tenant=_row(tenant), context={"schoolYear": "2027"}, connection=connection)

    assert [line.split("  ")[1:] for line in run("list_tenants")] == [
        ["Lakeside", "1 data store"],
        ["Grand-Bend", "1 data store"],
    ]
    assert [line.split("  ")[1:4] for line in run("list_data_stores")] == [
        ["Lakeside/2027", "schoolYear=2027", "preparing"],
        ["Grand-Bend/2027", "schoolYear=2027", "preparing"],
    ]
    options = ["--claim-set", "EdFiSandbox", "--format", "json", "--tenant", "lakeside"]
    with pytest.raises(CommandError, match=r"not data stores of the client's tenant: \d+ Grand-Bend/2027"):
        run("create_api_client", "sis", *options, "--data-store", "grand-bend/2027")
    made = json.loads("\n".join(run("create_api_client", "sis", *options, "--data-store", "lakeside/schoolYear=2027")))
    assert [store.tenant.name for store in ApiClient.objects.get(client_id=made["key"]).data_stores.all()] == [
        "Lakeside"
    ]
    with pytest.raises(CommandError, match="not data stores of the client's tenant"):
        run("assign_data_stores", "sis", "grand-bend/")
    with pytest.raises(CommandError, match='There is no tenant "nobody"; there are: Grand-Bend, Lakeside'):
        run("create_api_client", "other", "--claim-set", "EdFiSandbox", "--tenant", "nobody")


def test_claim_sets_and_profiles_are_loaded_for_a_tenant(db, tmp_path):
    lakeside, grand_bend = create_tenant("Lakeside"), create_tenant("Grand-Bend")
    claims, shared, hierarchy = (tmp_path / name for name in ("own.json", "shared.json", "hierarchy.json"))
    granted = '[{"claims": ["ed-fi/student"], "actions": ["Read"], "strategies": ["NamespaceBased"]}]'
    claims.write_text(f'{{"claimSets": [{{"name": "Nurse", "grants": {granted}}}]}}')
    shared.write_text(f'{{"claimSets": [{{"name": "EdFiSandbox", "grants": {granted}}}]}}')
    hierarchy.write_text('{"resourceClaims": [{"name": "domains/people"}]}')
    portal = tmp_path / "portal.xml"
    portal.write_bytes(profile_xml("Student", "IncludeOnly", "IncludeAll", name="Portal"))

    for tenant in ("lakeside", "grand-bend"):
        run("load_claim_sets", str(claims), "--tenant", tenant)
        run("load_profiles", str(portal), "--tenant", tenant)
    for wrong, message in (
        (shared, "shared claim sets with these names: EdFiSandbox"),
        (hierarchy, "are shared by all"),
    ):
        with pytest.raises(CommandError, match=message):
            run("load_claim_sets", str(wrong), "--tenant", "lakeside")
    with pytest.raises(CommandError, match="claim sets of tenants with these names: Nurse"):
        run("load_claim_sets", str(claims))
    with pytest.raises(CommandError, match="Portal is the profile of a tenant already"):
        run("load_profiles", str(portal))

    assert [list(each.claim_sets.values_list("name", flat=True)) for each in (lakeside, grand_bend)] == [["Nurse"]] * 2
    assert [list(each.profiles.values_list("name", flat=True)) for each in (lakeside, grand_bend)] == [["Portal"]] * 2
    assert "lakeside/portal" in "\n".join(run("list_profiles")).lower()
    run("remove_profile", "Portal", "--tenant", "lakeside")
    assert not lakeside.profiles.exists()
    assert grand_bend.profiles.exists()


def _row(name):
    from edfi_api.core.data_stores.stores import tenant_named  # noqa: PLC0415

    return tenant_named(name)
