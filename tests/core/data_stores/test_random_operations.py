"""Random operations on three data stores of two tenants, in threads, compared with a model of each."""

import random
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connections

from edfi_api.core.data_stores.models import State
from edfi_api.core.data_stores.stores import create_data_store, create_tenant
from edfi_api.core.security.models import ApiClient
from tests.conftest import new_token
from tests.core.data_stores.conftest import StoreClient

SEED = 20_261_123
OPERATIONS = 60
STUDENTS = "/students"


class World:
    """A data store and what it must contain: last names by unique id. Used by one thread."""

    def __init__(self, client, seed):
        self.client, self.random = client, random.Random(seed)  # noqa: S311
        self.names, self.ids, self.deletes = {}, {}, 0

    def run(self):
        for number in range(OPERATIONS):
            self.random.choice([self._write, self._write, self._delete, self._read])(number)
        connections.close_all()

    def _write(self, number):
        unique_id = str(self.random.randrange(8))
        name = f"{self.client.context}-{number}"
        body = {"studentUniqueId": unique_id, "firstName": "A", "lastSurname": name, "birthDate": "2010-01-01"}
        answer = self.client.post(STUDENTS, body)
        assert answer.status_code == (200 if unique_id in self.names else 201)
        self.ids[unique_id] = answer["Location"].rpartition("/")[2]
        self.names[unique_id] = name

    def _delete(self, _number):
        if self.names:
            unique_id = self.random.choice(sorted(self.names))
            assert self.client.delete(f"{STUDENTS}/{self.ids[unique_id]}").status_code == 204
            del self.names[unique_id]
            self.deletes += 1

    def _read(self, _number):
        found = self.client.get(f"{STUDENTS}?totalCount=true")
        assert {each["studentUniqueId"]: each["lastSurname"] for each in found.json()} == self.names
        assert int(found["Total-Count"]) == len(self.names)

    def deleted(self):
        return len(self.client.get(f"{STUDENTS}/deletes?limit=500").json())


@pytest.fixture
def worlds(configured, transactional_db, store_databases):
    configured("schoolYear", MULTI_TENANCY=True)
    made = []
    for tenant_name, years in (("Lakeside", ("2026", "2027")), ("Grand-Bend", ("2027",))):
        tenant = create_tenant(tenant_name)
        token = new_token(f"sis of {tenant_name}", tenant=tenant)
        for year in years:
            store = create_data_store(
                year,
                tenant=tenant,
                context={"schoolYear": year},
                connection=store_databases.create(),
                state=State.ONLINE,
            )
            ApiClient.objects.get(name=f"sis of {tenant_name}").data_stores.add(store)
            made.append(StoreClient(token, f"/{tenant_name}/{year}"))
    return [World(client, SEED + number) for number, client in enumerate(made)]


def test_nothing_of_one_shows_in_another(worlds):
    with ThreadPoolExecutor(len(worlds)) as pool:
        for done in [pool.submit(world.run) for world in worlds]:
            done.result()

    for world in worlds:
        world._read(0)
        assert world.deletes > 0
        assert world.deleted() <= world.deletes
        for other in worlds:
            for id_ in other.ids.values():
                status = world.client.get(f"{STUDENTS}/{id_}").status_code
                assert status == (200 if id_ in [world.ids[each] for each in world.names] else 404)
