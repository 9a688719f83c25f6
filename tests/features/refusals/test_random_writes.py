"""Random writes of two clients against a model of which refusals are open."""

import random

import pytest

from tests.conftest import item_path
from tests.features.refusals.conftest import client_id
from tests.support.class_periods import PERIOD, store_school

STEPS = 150
NAMES = ("First", "Second", "Third")


class Model:
    """Sends writes and records which refusals are open: pairs of client and name of a class period."""

    def __init__(self, clients) -> None:
        self.clients = clients
        self.open: set[tuple[str, str]] = set()
        self.paths: dict[str, str] = {}

    def refused(self, client: str, name: str, _: str) -> None:
        body = PERIOD | {"classPeriodName": name, "officialAttendancePeriod": "never"}
        assert self.clients[client].post("/classPeriods", body).status_code == 400
        self.open.add((client, name))

    def stored(self, client: str, name: str, _: str) -> None:
        response = self.clients[client].post("/classPeriods", PERIOD | {"classPeriodName": name})
        assert response.status_code in (200, 201)
        self.paths[name] = item_path(response)
        self.open.discard((client, name))

    def deleted(self, client: str, name: str, _: str) -> None:
        if name in self.paths:
            assert self.clients[client].delete(self.paths.pop(name)).status_code == 204
            self.open.discard((client, name))

    def renamed(self, client: str, name: str, new: str) -> None:
        if name not in self.paths or new in self.paths:
            return
        path = self.paths[new] = self.paths.pop(name)
        body = PERIOD | {"classPeriodName": new, "id": path.rpartition("/")[2]}
        assert self.clients[client].put(path, body).status_code == 204
        self.open -= {(client, name), (client, new)}


@pytest.mark.parametrize("seed", range(2))
def test_open_entries_are_those_of_the_model(committing_api, other_api, refused, seed):
    choice = random.Random(seed).choice  # noqa: S311  The same writes each time.
    store_school(committing_api)
    names = {client_id(name): name for name in ("tests", "another")}
    model = Model({"tests": committing_api, "another": other_api})
    done = []
    for _ in range(STEPS):
        write = choice((model.refused, model.refused, model.stored, model.deleted, model.renamed))
        done.append((write.__name__, choice(("tests", "another")), choice(NAMES), choice(NAMES)))
        write(*done[-1][1:])

        found = refused(resolved_at=None)

        keys = {(names[each.client], each.natural_key.split("=")[1].split("#")[0]) for each in found}
        assert (keys, len(found)) == (model.open, len(model.open)), done
