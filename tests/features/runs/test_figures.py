"""The figures of a report are those that the client has counted itself, while two other clients and a load write."""

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.whole.robustness.real_server import TOP, Answer, RealClient, RealServer
from tests.whole.robustness.waiting import wait_until

DATA = "/data/ed-fi"
STUDENTS, SCHOOLS, ENROLLMENTS = "/ed-fi/students", "/ed-fi/schools", "/ed-fi/studentSchoolAssociations"
GRADE = "uri://ed-fi.org/GradeLevelDescriptor#Ninth grade"
DONE = ("created", "changed", "unchanged", "deleted", "refused")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, prepared_home: Callable[[Path], Path]) -> Iterator[RealServer]:
    home = prepared_home(tmp_path_factory.mktemp("server") / "home")
    # A worker of four threads refuses the third batch at the same time, and a busy one what takes two seconds.
    limits = {"MEADOWLARK_THREADS": "8", "MEADOWLARK_STATEMENT_SECONDS": "60", "MEADOWLARK_LOCK_SECONDS": "60"}
    with RealServer(home, **limits) as running:
        yield running


@pytest.fixture(scope="module")
def tokens(server: RealServer) -> dict[str, str]:
    """By the name of a client. One process makes all of them."""
    names = ("one", "two", "three", "why")
    code = f"""
from edfi_api.core.security.clients import create_client
for name in {names!r}:
    made = create_client(name, "EdFiSandbox")
    print(made.key, made.secret)
"""
    made = dict(zip(names, server.manage("shell", "-v", "0", "-c", code).decode().splitlines(), strict=True))
    found = {}
    with closing(RealClient(server.port, token="")) as client:
        for name, line in made.items():
            key, secret = line.split()
            body = {"grant_type": "client_credentials", "client_id": key, "client_secret": secret}
            found[name] = json.loads(client.send("POST", "/oauth/token", body).body)["access_token"]
    return found


class CountingClient:
    """Sends requests of every kind, and counts what it is answered."""

    def __init__(self, server: RealServer, name: str, token: str) -> None:
        self.name = name
        self._server = server
        self._http = RealClient(server.port, token)
        self.writes: Counter[tuple[str, str]] = Counter()
        self.reads: dict[tuple[str, str], list[int]] = {}
        self.statuses: Counter[str] = Counter()
        self.refused: Counter[tuple[str, int]] = Counter()

    def send(self, method: str, path: str, body: object = None) -> Answer:
        answer = self._http.send(method, path, body)
        self.statuses[str(answer.status)] += 1
        return answer

    def write(self, method: str, path: str, done: str, body: object = None) -> Answer:
        answer = self.send(method, f"/data{path}", body)
        resource = "/".join(path.split("/")[:3])
        assert (answer.status >= 400) == (done == "refused"), answer
        self.writes[resource, done] += 1
        if done == "refused":
            self.refused[resource, answer.status] += 1
        return answer

    def read(self, path: str, resource: str, what: str) -> Answer:
        answer = self.send("GET", f"/data{path}")
        assert answer.status == 200, answer
        counted = self.reads.setdefault((resource, what), [0, 0, 0, 0])
        found = json.loads(answer.body)
        numbers = (1, 1, len(answer.body), 0) if what == "document" else (1, len(found), len(answer.body), 1)
        self.reads[resource, what] = [one + other for one, other in zip(counted, numbers, strict=True)]
        return answer

    def run(self, rounds: int) -> None:
        """All that a client may do, with documents of its own."""
        for number in range(rounds):
            student = {
                "studentUniqueId": f"{self.name}-{number}",
                "firstName": "Mae",
                "lastSurname": "Ortiz",
                "birthDate": "2010-02-03",
            }
            created = self.write("POST", STUDENTS, "created", student)
            path = f"{STUDENTS}/{created.headers['Location'].rpartition('/')[2]}"
            id_ = path.rpartition("/")[2]
            self.write("POST", STUDENTS, "unchanged", student)
            self.write("POST", STUDENTS, "changed", student | {"firstName": "May"})
            self.write("PUT", path, "changed", student | {"id": id_})
            self.write("PUT", path, "unchanged", student | {"id": id_})
            self.write("POST", STUDENTS, "refused", student | {"birthDate": "yesterday"})
            enrollment = {
                "studentReference": {"studentUniqueId": student["studentUniqueId"]},
                "schoolReference": {"schoolId": 999_999},
                "entryDate": "2025-08-20",
                "entryGradeLevelDescriptor": GRADE,
            }
            self.write("POST", ENROLLMENTS, "refused", enrollment)
            for _ in range(4):  # Prepared from the second one on.
                self.read(path, STUDENTS, "document")
            self.read(f"{STUDENTS}?studentUniqueId={student['studentUniqueId']}", STUDENTS, "collection")
            self.read(f"{STUDENTS}?minChangeVersion=1&maxChangeVersion=10&limit=3", STUDENTS, "collection")
            self.batch(number, student)
            self.write("DELETE", path, "deleted")
            self.write("DELETE", path, "refused")
            assert self.send("GET", f"/data{path}").status == 404
            self.refused[STUDENTS, 404] += 1
            self.read(f"{STUDENTS}/deletes?limit=2", STUDENTS, "deletes")

    def batch(self, number: int, student: dict[str, Any]) -> None:
        """An independent batch with an operation of each outcome, then an atomic one that is rolled back."""
        other = student | {"studentUniqueId": f"{self.name}-batch-{number}"}
        operations = [
            {"op": "upsert", "resource": "ed-fi/students", "document": other},
            {"op": "upsert", "resource": "ed-fi/students", "document": student},
            {"op": "upsert", "resource": "ed-fi/students", "document": other | {"firstName": "May"}},
            {"op": "upsert", "resource": "ed-fi/students", "document": {"firstName": "May"}},
        ]
        answer = self.send("POST", "/batch?mode=independent", operations)
        assert answer.status == 200, answer
        results = [each["status"] for each in json.loads(answer.body) if "status" in each]
        assert results == [201, 200, 200, 400], answer
        self.writes.update({(STUDENTS, done): 1 for done in ("created", "changed", "unchanged", "refused")})
        self.refused[STUDENTS, 400] += 1
        answer = self.send("POST", "/batch?mode=atomic", [*operations[:1], operations[3]])
        assert answer.status == 400, answer
        self.writes[STUDENTS, "refused"] += 1
        self.refused[STUDENTS, 400] += 1
        # The batch as a whole.
        self.refused["batch", 400] += 1

    def report(self) -> dict[str, Any]:
        return json.loads(self._http.send("GET", "/submissions/v1/report").body)

    def close(self) -> None:
        self._http.close()


def load(server: RealServer, folder: Path) -> subprocess.CompletedProcess[bytes]:
    """What the server does itself is in no report."""
    lines = [
        json.dumps({"studentUniqueId": f"load-{n}", "firstName": "A", "lastSurname": "B", "birthDate": "2010-02-03"})
        for n in range(200)
    ]
    file = folder / "students.jsonl"
    file.write_text("\n".join(lines))
    command = [sys.executable, "manage.py", "load_documents", str(file)]
    return subprocess.run(command, cwd=TOP, env=server._environment(), check=True, capture_output=True)


def test_figures_are_those_that_the_client_counted(server: RealServer, tokens: dict[str, str], tmp_path: Path):
    clients = [CountingClient(server, name, tokens[name]) for name in ("one", "two", "three")]
    with ThreadPoolExecutor(4) as pool:
        loading = pool.submit(load, server, tmp_path)
        for each in [pool.submit(client.run, 5 + number) for number, client in enumerate(clients)]:
            each.result()
        assert b"200" in loading.result().stdout

    for client in clients:
        with closing(client):
            number = sum(client.statuses.values())
            wait_until(lambda: sum(client.report()["statuses"].values()) >= number, 20)  # noqa: B023
            report = client.report()

            assert report["statuses"] == client.statuses
            assert {
                (each["resource"], done): each[done] for each in report["writes"] for done in DONE if each[done]
            } == {**client.writes, ("batch", "refused"): client.refused["batch", 400]}
            assert {
                (each["resource"], each["what"]): [each[name] for name in ("requests", "documents", "bytes", "pages")]
                for each in report["reads"]
            } == client.reads
            refused = Counter[tuple[str, int]]()
            for each in report["refusals"]:
                refused[each["resource"], each["status"]] += each["number"]
            assert refused == client.refused
            assert sum(each["requests"] for each in report["requests"]) == number


@pytest.mark.long
def test_a_report_says_why_and_in_which_environment(server: RealServer, tokens: dict[str, str]):
    with closing(CountingClient(server, "why", tokens["why"])) as client:
        client.run(2)
        number = sum(client.statuses.values())
        wait_until(lambda: sum(client.report()["statuses"].values()) >= number, 20)
        report = client.report()

        causes = {(each["resource"], each["operation"], each["status"]): each["cause"] for each in report["refusals"]}
        assert causes[ENROLLMENTS, "upsert", 409] == "School NK#schoolId=999999 is missing"
        assert report["exercised"] == [
            {"resource": STUDENTS, "created": True, "changed": True, "deleted": True, "read": True}
        ]
        assert report["environment"]["claimSet"] == "EdFiSandbox"
        assert report["environment"]["limits"]["pageSize"] == 500
        windows = {each["what"]: (each["fromChangeVersion"], each["toChangeVersion"]) for each in report["reads"]}
        assert windows["collection"] == (1, 10)
        assert report["firstRequestAt"] < report["lastRequestAt"]
        text = server.manage("report_run", "--client", "why").decode()
        assert "School NK#schoolId=999999 is missing" in text
        [run] = json.loads(client._http.send("GET", "/submissions/v1/runs").body)
        assert run["firstRequestAt"] == report["firstRequestAt"]
