"""The admin on a server with data stores: pages of documents show one of them, and data stores have pages."""

import re
from uuid import UUID

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.utils import timezone

from edfi_api.core.data_stores.connection_strings import decrypt
from edfi_api.core.data_stores.models import DataStore, State
from edfi_api.core.data_stores.stores import create_data_store, create_tenant, set_connection
from edfi_api.core.security.clients import create_client
from edfi_api.core.security.models import ApiClient
from edfi_api.core.security.profiles.models import Profile
from edfi_api.features.changes.change_queries.models import ChangeConsumer
from edfi_api.features.changes.change_stream.models import DeadLetter
from edfi_api.features.refusals.models import Refusal
from tests.core.data_stores.conftest import renumber
from tests.support.ports import free_port

DOCUMENTS, DELETED = "/admin/edfi_api/document/", "/admin/change_queries/deleteddocument/"
STORES = "/admin/data_stores/datastore/"
PASSWORD = "not-to-be-shown"


def _client_of(user):
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def admin(db):
    return _client_of(User.objects.create(username="admin", is_staff=True, is_superuser=True))


@pytest.fixture
def two(configured, make_store, client_of):
    """Data stores of two years, each with a student; and the API client that wrote them."""
    configured("schoolYear")
    stores = [make_store(year, schoolYear=year) for year in ("2026", "2027")]
    api = client_of(*stores)
    for store, name in zip(stores, ("Anna", "Berta"), strict=True):
        body = {"studentUniqueId": name, "firstName": name, "lastSurname": "A", "birthDate": "2010-01-01"}
        assert api.at(f"/{store.name}").post("/students", body).status_code == 201
    return stores, api


def _text(response):
    assert response.status_code == 200, response.content
    return response.content.decode()


def _row(page):
    return re.findall(rf"{DOCUMENTS}(\d+)/change/", page)[0]


def test_a_page_of_documents_asks_which_data_store(two, admin):
    stores, _ = two

    asked = admin.get(DOCUMENTS, {"q": "Anna"}, follow=True)

    page = _text(asked)
    assert asked.redirect_chain[0][0].startswith("/admin/choose-data-store/?next=")
    assert f'href="{DOCUMENTS}?q=Anna&amp;store={stores[0].pk}"' in page
    assert f"{stores[1].pk} 2027 (schoolYear=2027)" in page
    assert "2026 (schoolYear=2026)" not in _text(admin.get("/admin/choose-data-store/", {"q": "2027"}))


def test_the_choice_is_in_the_address_and_kept(two, admin):
    (first, second), _ = two

    of_first = _text(admin.get(DOCUMENTS, {"store": first.pk}))
    again = admin.get(DOCUMENTS)
    of_second = _text(admin.get(DOCUMENTS, {"store": second.pk}))

    assert "studentUniqueId=Anna" in of_first and "Berta" not in of_first
    assert f"{first.pk} 2026 (schoolYear=2026)" in of_first
    assert again["Location"] == f"{DOCUMENTS}?store={first.pk}"
    assert "studentUniqueId=Berta" in of_second and "Anna" not in of_second
    assert "tests" in of_second  # who wrote it, from the admin database


def test_search_filters_and_pages_are_of_the_chosen_data_store(two, admin):
    (first, second), api = two
    descriptor = {"namespace": "uri://ed-fi.org/SexDescriptor", "codeValue": "Z", "shortDescription": "Zeta"}
    assert api.at("/2027").post("/sexDescriptors", descriptor).status_code == 201

    def listed(address, store, **parameters):
        return _text(admin.get(address, {"store": store.pk, **parameters}))

    assert "studentUniqueId=Berta" in listed(DOCUMENTS, second, q="Berta")
    assert "studentUniqueId=Berta" not in listed(DOCUMENTS, first, q="Berta")
    assert "Zeta" in listed("/admin/descriptors/descriptor/", second)
    assert "Zeta" not in listed("/admin/descriptors/descriptor/", first)
    row = _row(listed(DOCUMENTS, second, q="Berta"))
    page = listed(f"{DOCUMENTS}{row}/change/", second)
    assert "&quot;firstName&quot;: &quot;Berta&quot;" in page
    assert "Student | " in page
    latest = listed(f"{DOCUMENTS}by-kind/", second)
    assert "Berta" in latest and "Anna" not in latest


def test_descriptors_are_found_where_resources_have_other_numbers(configured, make_store, client_of, admin, surface):
    configured("schoolYear")
    store = make_store("2027", schoolYear="2027")
    api = client_of(store).at("/2027")
    assert api.get("/students").json() == []
    renumber(f"store_{store.pk}_1", surface)
    descriptor = {"namespace": "uri://ed-fi.org/SexDescriptor", "codeValue": "Z", "shortDescription": "Zeta"}
    assert api.post("/sexDescriptors", descriptor).status_code == 201

    page = _text(admin.get("/admin/descriptors/descriptor/", {"store": store.pk}))

    assert "Zeta" in page


def test_the_front_page_shows_the_state_of_the_chosen_data_store(two, admin):
    (first, second), _ = two
    DeadLetter.objects.using(f"store_{second.pk}_1").create(
        handler="h", change_version=1, resource="r", natural_key="k", change="{}", error="e", attempts=1
    )
    ChangeConsumer.objects.using(f"store_{second.pk}_1").create(name="lake", change_version=2**40)

    of_first = _text(admin.get("/admin/", {"store": first.pk}))
    of_second = _text(admin.get("/admin/", {"store": second.pk}))

    assert ("Consumer lake" in of_first, "Consumer lake" in of_second) == (False, True)
    dead_letters = re.compile(r"Dead letters(?:</a>)?</th>\s*<td>(\d+)</td>")
    assert [dead_letters.search(page)[1] for page in (of_first, of_second)] == ["0", "1"]


def test_deletions_and_restorations_are_in_the_chosen_data_store(two, admin, log, django_capture_on_commit_callbacks):
    (_, second), api = two
    row = _row(_text(admin.get(DOCUMENTS, {"store": second.pk, "q": "Berta"})))

    with django_capture_on_commit_callbacks(execute=True):
        deleted = admin.post(f"{DOCUMENTS}{row}/delete/?store={second.pk}", {"post": "yes"})
    gone = api.at("/2027").get("/students").json()
    version = re.findall(rf"{DELETED}(\d+)/change/", _text(admin.get(DELETED, {"store": second.pk})))[0]
    with django_capture_on_commit_callbacks(execute=True):
        restored = admin.post(f"{DELETED}?store={second.pk}", {"action": "restore", "_selected_action": [version]})

    assert (deleted.status_code, gone, restored.status_code) == (302, [], 302)
    assert [each["firstName"] for each in api.at("/2027").get("/students").json()] == ["Berta"]
    assert [each["firstName"] for each in api.at("/2026").get("/students").json()] == ["Anna"]
    lines = [line for line in log.audit if str(line["event"]).startswith("admin ") and "data_store" in line]
    assert [(line["event"], line["data_store"]) for line in lines] == [
        ("admin deletion", str(second.pk)),
        ("admin change", str(second.pk)),
    ]
    named = f"{second.pk} 2027 (schoolYear=2027): studentUniqueId=Berta"
    assert list(LogEntry.objects.values_list("object_repr", flat=True)) == [named, named]


def test_a_form_without_a_data_store_is_refused(two, admin):
    (first, _), _ = two
    row = _row(_text(admin.get(DOCUMENTS, {"store": first.pk})))

    assert admin.post(f"{DOCUMENTS}{row}/delete/", {"post": "yes"}).status_code == 400


@pytest.mark.parametrize("connection", ["no string", "MISSING"])
def test_a_data_store_that_cannot_be_reached_leads_back_to_the_choice(two, admin, store_databases, connection):
    (first, _), _ = two
    set_connection(first, store_databases.url_of("missing") if connection == "MISSING" else connection)
    from edfi_api.core.data_stores.routing_cache import routing_cache  # noqa: PLC0415

    routing_cache()._checked_at -= 1

    page = _text(admin.get(DOCUMENTS, {"store": first.pk}, follow=True))

    assert "The data store cannot be reached" in page
    assert "Choose a data store" in page


def test_refusals_are_listed_while_their_data_store_does_not_answer(two, admin, store_databases):
    (first, _), _ = two
    set_connection(first, store_databases.url_of("missing"))
    from edfi_api.core.data_stores.routing_cache import routing_cache  # noqa: PLC0415

    routing_cache()._checked_at -= 1
    now = timezone.now()
    refusal = Refusal.objects.create(
        id=UUID(int=5), client=0, data_store=first.pk, resource="/ed-fi/students", subject=UUID(int=6),
        has_identity=True, natural_key="NK#studentUniqueId=604822", operation="POST", is_batch=False, is_summary=False,
        status=400, problem="data", title="Data", paths={}, errors=[], cause=UUID(int=7), cause_text="data",
        awaited_resource="", correlation_id="c", first_at=now, last_at=now, count=1, sequence=1,
    )  # fmt: skip
    for address in ("", "?q=604822", f"{refusal.pk}/change/"):
        answer = admin.get(f"/admin/refusals/refusal/{address}")

        assert answer.status_code == 200
        assert "604822" in _text(answer)


def test_the_only_data_store_needs_no_choice(configured, make_store, admin):
    configured("schoolYear")
    store = make_store("2027", schoolYear="2027")

    assert admin.get(DOCUMENTS)["Location"] == f"{DOCUMENTS}?store={store.pk}"


def test_the_admin_database_is_a_choice_where_it_has_documents(configured, make_store, admin):
    configured()
    make_store("other")

    assert "admin database" in _text(admin.get(DOCUMENTS, follow=True))
    assert "admin database" in _text(admin.get(DOCUMENTS, {"store": "main"}))


def test_without_data_stores_nothing_is_to_be_chosen(admin):
    for address in ("/admin/", DOCUMENTS):
        page = _text(admin.get(address))
        assert "choose-data-store" not in page


def test_the_next_page_is_never_on_another_server(two, admin):
    page = _text(admin.get("/admin/choose-data-store/", {"next": "https://evil.example/"}))

    assert "evil" not in page


def _form(**values):
    inlines = {}
    for prefix in ("contexts", "derivatives"):
        inlines |= {f"{prefix}-TOTAL_FORMS": "0", f"{prefix}-INITIAL_FORMS": "0"}
    return {"name": "2027", "type": "", "connection_string": "", **inlines, **values}


def test_a_data_store_is_added_and_its_connection_string_never_shown(configured, admin):
    configured("schoolYear")
    context = {"contexts-TOTAL_FORMS": "1", "contexts-0-key": "schoolYear", "contexts-0-value": "2027"}
    url = f"postgresql://edfi:{PASSWORD}@db7.internal/lakeside"

    assert admin.post(f"{STORES}add/", _form(connection_string=url, **context)).status_code == 302

    store = DataStore.objects.get()
    assert (store.state, decrypt(store.connection)) == (State.PREPARING, url)
    for address in (STORES, f"{STORES}{store.pk}/change/", f"{STORES}{store.pk}/history/"):
        page = _text(admin.get(address))
        assert PASSWORD not in page and store.connection not in page
    assert "edfi at db7.internal/lakeside" in _text(admin.get(STORES))
    kept = _form(name="renamed") | {"contexts-INITIAL_FORMS": "0"}
    assert admin.post(f"{STORES}{store.pk}/change/", kept).status_code == 302
    store.refresh_from_db()
    assert (store.name, decrypt(store.connection)) == ("renamed", url)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"connection_string": f"host=db password={PASSWORD}"}, "It cannot be used: it names no database."),
        ({"connection_string": "postgresql://x@elsewhere/y"}, "It cannot be used: "),
        (
            {"connection_string": "postgresql://x:***@db/y"},
            "It cannot be used: a mask stands in the place of its password.",
        ),
        (
            {"contexts-TOTAL_FORMS": "1", "contexts-0-key": "year", "contexts-0-value": "1"},
            "MEADOWLARK_ROUTE_QUALIFIERS does not name: year.",
        ),
        (
            {"contexts-TOTAL_FORMS": "1", "contexts-0-key": "schoolYear", "contexts-0-value": "data"},
            "&#x27;data&#x27; is reserved.",
        ),
    ],
)
def test_what_cannot_be_added_is_refused_with_the_reason(configured, admin, values, message):
    configured("schoolYear", STORE_HOSTS=("db",))

    page = _text(admin.post(f"{STORES}add/", _form(**values)))

    assert message in page
    assert PASSWORD not in page
    assert not DataStore.objects.exists()


def test_states_are_changed_but_preparing_is_left_to_the_command(configured, make_store, admin):
    configured()
    store = make_store("2027", connection="dbname=x")

    assert admin.post(f"{STORES}{store.pk}/change/", _form(state="readOnly")).status_code == 302
    store.refresh_from_db()
    assert store.state == State.READ_ONLY
    assert "Select a valid choice" in _text(admin.post(f"{STORES}{store.pk}/change/", _form(state="preparing")))


def test_pages_of_data_stores_need_their_permissions(configured, make_store, db):
    configured()
    store = make_store("2027", connection="dbname=x")
    user = User.objects.create(username="steward", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename="view_document"))
    steward = _client_of(user)
    assert steward.get(STORES).status_code == 403

    user.user_permissions.add(Permission.objects.get(codename="view_datastore"))

    page = _text(steward.get(f"{STORES}{store.pk}/change/"))
    assert "connection_string" not in page
    assert steward.post(f"{STORES}{store.pk}/change/", _form(state="offline")).status_code == 403


def test_data_stores_are_assigned_on_the_page_of_a_client(configured, make_store, admin):
    configured(MULTI_TENANCY=True)
    tenant, other = create_tenant("Lakeside"), create_tenant("Grand-Bend")
    create_client("sis", "EdFiSandbox", tenant=tenant)
    client = ApiClient.objects.get(name="sis")
    stores = [create_data_store("2027", tenant=each, connection=f"dbname={each.name}") for each in (tenant, other)]
    page = f"/admin/security/apiclient/{client.pk}/change/"
    prefix = "apiclientdatastore_set"

    def assign(store):
        form = {
            "name": "sis",
            "application": client.application_id,
            "is_active": "on",
            f"{prefix}-0-data_store": store.pk,
        }
        return admin.post(page, form | {f"{prefix}-TOTAL_FORMS": "1", f"{prefix}-INITIAL_FORMS": "0"})

    assert "It is not a data store of the client&#x27;s tenant." in _text(assign(stores[1]))
    assert assign(stores[0]).status_code == 302
    assert list(client.data_stores.all()) == [stores[0]]


def test_nothing_of_one_tenant_goes_to_another(configured, admin):
    configured(MULTI_TENANCY=True)
    tenant, other = create_tenant("Lakeside"), create_tenant("Grand-Bend")
    for name, owner in (("sis", tenant), ("theirs", other)):
        create_client(name, "EdFiSandbox", tenant=owner)
    client, theirs = ApiClient.objects.get(name="sis"), ApiClient.objects.get(name="theirs")
    rule = '{"name": "Student", "read": {"memberSelection": "IncludeAll"}}'
    definition = f'{{"profiles": [{{"name": "Theirs", "resources": [{rule}]}}]}}'
    profile = Profile.objects.create(name="Theirs", definition=definition, tenant=other)
    inline = {"api_clients-TOTAL_FORMS": "0", "api_clients-INITIAL_FORMS": "0"}
    application = client.application
    sent = {"name": "sis", "vendor": application.vendor_id, "claim_set": application.claim_set_id} | inline
    page = f"/admin/security/application/{application.pk}/change/"

    moved = _text(admin.post(page, sent | {"vendor": theirs.application.vendor_id}))
    bound = _text(admin.post(page, sent | {"api_profiles": [profile.pk]}))
    stores = {"apiclientdatastore_set-TOTAL_FORMS": "0", "apiclientdatastore_set-INITIAL_FORMS": "0"}
    form = {"name": "sis", "is_active": "on", "application": theirs.application_id} | stores
    assigned = _text(admin.post(f"/admin/security/apiclient/{client.pk}/change/", form))

    assert "The application cannot go to a vendor of another tenant." in moved
    assert "There is no profile Theirs for the vendor&#x27;s tenant." in bound
    assert "The client cannot go to an application of another tenant." in assigned
    assert admin.post(page, sent).status_code == 302


def test_tenants_are_shown_only_where_there_are_tenants(configured, admin):
    vendors = "/admin/security/vendor/add/"
    assert "Tenant:" not in _text(admin.get(vendors))

    configured(MULTI_TENANCY=True)

    assert "Tenant:" in _text(admin.get(vendors))
    assert "&#x27;data&#x27; is reserved." in _text(admin.post("/admin/data_stores/tenant/add/", {"name": "data"}))
    assert admin.post("/admin/data_stores/tenant/add/", {"name": "Lakeside"}).status_code == 302


@pytest.fixture
def write_schools(documents, resource_named, documents_of):
    """Writes schools with these ids and names into the data store of a year."""
    school = resource_named("School")

    def write(api, store, schools):
        api = api.at(f"/{store.name}")
        # Its database is one of Django's from then on.
        assert api.get("/schools").status_code == 200
        documents_of(f"store_{store.pk}_1").store_targets(school, documents.minimal_body(school))
        for number, name in schools.items():
            body = documents.minimal_body(school, schoolId=number, nameOfInstitution=name)
            assert api.post("/schools", body).status_code == 201

    return write


def test_names_of_organizations_are_those_in_the_data_stores_of_a_client(
    configured, make_store, client_of, admin, write_schools
):
    configured("schoolYear")
    old, new = (make_store(year, schoolYear=year) for year in ("2026", "2027"))
    api = client_of(old, new, education_organization_ids=[255901, 255902, 255903])
    write_schools(api, old, {255901: "Old", 255902: "Closed"})
    write_schools(api, new, {255901: "New"})
    client = ApiClient.objects.get(name="tests")

    def lines():
        page = _text(admin.get(f"/admin/security/apiclient/{client.pk}/change/"))
        return re.findall(r"(?<=>)\d{6}: [^<]+(?=<br>)", page)

    assert lines() == ["255901: New", "255902: Closed", "255903: does not exist yet"]
    away = make_store("2028", connection=f"postgresql://x@127.0.0.1:{free_port()}/x", schoolYear="2028")
    client.data_stores.set([old, away])
    assert lines() == ["255901: Old", "255902: Closed", "255903: not found; not every data store answers"]
