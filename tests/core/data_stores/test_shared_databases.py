"""Two tenants are not led to one database, unless a setting allows it."""

import pytest
from django.core.exceptions import ValidationError

from edfi_api.core.data_stores.models import DerivativeType, State
from edfi_api.core.data_stores.stores import add_derivative, create_data_store, create_tenant, set_connection
from tests.core.data_stores.problems import problem
from tests.core.data_stores.tenants import Tenant
from tests.support.factories import STUDENT

REFUSED = ["It cannot be used: it leads to a database of another tenant."]


@pytest.fixture
def lakeside(configured, db, store_databases):
    """A data store of one tenant."""
    configured(MULTI_TENANCY=True)
    return create_data_store("main", tenant=create_tenant("Lakeside"), connection=store_databases.create())


@pytest.fixture
def url(store_databases, lakeside):
    """Return a URL of the same database, with other parameters."""
    return f"{store_databases.url_of(store_databases.made[0])}&sslmode=prefer"


def test_a_new_data_store_is_refused(lakeside, url):
    with pytest.raises(ValidationError) as refusal:
        create_data_store("main", tenant=create_tenant("Grand-Bend"), connection=url)

    assert refusal.value.message_dict == {"ConnectionString": REFUSED}


def test_another_connection_and_a_derivative_are_refused(lakeside, url, store_databases):
    other = create_data_store("main", tenant=create_tenant("Grand-Bend"), connection=store_databases.create())

    for change in (
        lambda: set_connection(other, url),
        lambda: add_derivative(other, DerivativeType.SNAPSHOT, url),
    ):
        with pytest.raises(ValidationError) as refusal:
            change()
        assert refusal.value.messages == REFUSED


def test_the_database_of_a_derivative_is_another_tenants_too(lakeside, store_databases):
    snapshot = store_databases.create()
    add_derivative(lakeside, DerivativeType.SNAPSHOT, snapshot)

    with pytest.raises(ValidationError):
        create_data_store("main", tenant=create_tenant("Grand-Bend"), connection=snapshot)


def test_the_admin_database_is_one(lakeside):
    set_connection(lakeside, "main")

    with pytest.raises(ValidationError):
        create_data_store("main", tenant=create_tenant("Grand-Bend"), connection="main")


def test_a_tenant_may_lead_two_data_stores_to_one(lakeside, url):
    assert create_data_store("again", tenant=lakeside.tenant, connection=url)


def test_a_setting_allows_it(configured, lakeside, url):
    configured(MULTI_TENANCY=True, TENANTS_SHARE_DATABASES=True)

    assert create_data_store("main", tenant=create_tenant("Grand-Bend"), connection=url)


@pytest.mark.django_db
@pytest.mark.parametrize(("first", "is_allowed"), [(0, False), (1, False), (0, True)])
def test_what_a_connection_string_hid_is_refused_when_it_is_used(
    configured, store_databases, monkeypatch, first, is_allowed
):
    """The variable of the second tenant is set to the database of the first one later. Whoever comes first, the data
    store that was made later is refused."""
    configured(MULTI_TENANCY=True, TENANTS_SHARE_DATABASES=is_allowed)
    monkeypatch.setenv("MEADOWLARK_STORE_A", store_databases.create())
    monkeypatch.setenv("MEADOWLARK_STORE_B", store_databases.url_of("elsewhere"))
    variables = iter(["env:MEADOWLARK_STORE_A", "env:MEADOWLARK_STORE_B"])

    def store(tenant):
        return create_data_store("main", tenant=tenant, connection=next(variables), state=State.ONLINE)

    tenants = [Tenant("Lakeside", store, {}), Tenant("Grand-Bend", store, {})]
    clients = [tenant.at(f"/{tenant.row.name}") for tenant in tenants]
    monkeypatch.setenv("MEADOWLARK_STORE_B", store_databases.url_of(store_databases.made[0]))
    clients[first].get("/students")

    assert clients[0].post("/students", STUDENT).status_code == 201
    found = clients[1].get("/students")

    assert found.status_code == (200 if is_allowed else 503)
    if not is_allowed:
        assert problem(found)[1]["type"] == "urn:ed-fi:api:service-configuration-error"
        assert clients[0].get("/students").status_code == 200
