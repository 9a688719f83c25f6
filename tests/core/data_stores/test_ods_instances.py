"""An ODS instance of an EdFi_Admin becomes a data store with a database of its own."""

import pytest

from edfi_api.core.data_stores.models import DataStore
from tests.features.ods_import.conftest import _administration, admin, security  # noqa: F401  fixtures
from tests.support.management_commands import run


@pytest.fixture
def command(admin, security, year, db) -> list[str]:  # noqa: F811
    """An import of an instance."""
    admin.run(
        "INSERT INTO dbo.odsinstances VALUES (1, 'Year 2027', 'Production', 'host=ods');"
        "INSERT INTO dbo.odsinstancecontexts VALUES (1, 1, 'schoolYear', '2027')"
    )
    return ["import_ods", "clients", "--admin", admin.address, "--security", security.address]


def test_an_instance_becomes_a_data_store_that_is_online(command, store_databases, client_of, monkeypatch) -> None:
    monkeypatch.setenv("SERVER", store_databases.url)
    assert "to provision, by --provision or provision_data_store: Year 2027" in run(*command)
    store = DataStore.objects.get()
    store_databases.made.append(f"meadowlark_year_2027_{store.pk}")

    out = run(*command, "--provision", "SERVER")

    assert out[-1] == f"data store {store.pk} Year 2027: online"
    assert len(client_of(store).at("/2027").get("/gradeLevelDescriptors").json()) > 10
    assert not any("online" in line for line in run(*command, "--provision", "SERVER"))
