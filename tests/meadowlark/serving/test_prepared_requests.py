"""Requests are answered the same by what an earlier one has prepared (the short way) and by middleware and view (the
long way), and what a client may do changes as soon for both.

A request with a header that is not ASCII always goes the long way.
"""

import http.client
import json
import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.whole.robustness.real_server import RealClient, RealServer
from tests.whole.robustness.waiting import wait_until

EXAMPLES = int(os.environ.get("EXAMPLES", "8"))
DATA = "/data/ed-fi"
GRADE = "uri://ed-fi.org/GradeLevelDescriptor#Ninth grade"
CATEGORY = "uri://ed-fi.org/EducationOrganizationCategoryDescriptor#School"
STUDENT = {"firstName": "Mae", "lastSurname": "Ortiz", "birthDate": "2010-02-03"}
# Names of clients, their claim sets and further arguments.
CLIENTS = {
    "other": ["EdFiSandbox"],
    "bound": ["EdFiSandbox"],
    "related": ["SISVendor", "--education-organization-id", "1"],
    "unrelated": ["SISVendor"],
    "bootstrap": ["BootstrapDescriptorsandEdOrgs"],
}
LONG_WAY = {"X-Anything": "Zo\u00eb"}
_REVOKE = "DELETE FROM oauth2_provider_accesstoken WHERE token_checksum = encode(sha256(%s::bytea), 'hex')"
_EXPIRE = _REVOKE.replace("DELETE FROM", "UPDATE").replace("WHERE", "SET expires = now() - interval '1 hour' WHERE")
_ASSIGN = """
INSERT INTO profiles_profileassignment (application_id, profile_id)
SELECT a.id, p.id FROM security_application a CROSS JOIN profiles_profile p WHERE a.name = %s AND p.name = %s
"""
_OF_METRICS = ("meadowlark_requests_total", "meadowlark_problems", "meadowlark_client", "meadowlark_request_seconds_co")


class World(NamedTuple):
    """A server with documents, and what may be in requests to it."""

    server: RealServer
    tokens: dict[str, str]
    # Paths of documents by what they are.
    paths: dict[str, str]


class Answer(NamedTuple):
    status: int
    headers: list[tuple[str, str]]
    body: bytes


class Sender:
    """Sends requests on one connection."""

    def __init__(self, server: RealServer) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)

    def get(self, path: str, **headers: str) -> Answer:
        return self.send("GET", path, None, headers)

    def send(self, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> Answer:
        self._connection.request(method, path, body, headers)
        answer = self._connection.getresponse()
        return Answer(answer.status, answer.getheaders(), answer.read())

    def close(self) -> None:
        self._connection.close()


def bearer(token: str) -> str:
    return f"Bearer {token}"


@pytest.fixture(scope="module", params=["", pytest.param("ods", marks=pytest.mark.long)])
def world(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, prepared_home: Callable[[Path], Path]
) -> Iterator[World]:
    home = prepared_home(tmp_path_factory.mktemp("server") / "home")
    environment = {"MEADOWLARK_LOG_REQUESTS": "1", "MEADOWLARK_LOG_FORMAT": "json", "MEADOWLARK_WORKERS": "1"}
    environment["MEADOWLARK_COMPATIBILITY"] = request.param
    with RealServer(home, **environment) as server, closing(RealClient(server.port, server.token)) as client:

        def post(endpoint: str, **body: Any) -> str:
            answer = client.send("POST", f"{DATA}/{endpoint}", body)
            assert answer.status == 201, answer
            return f"{DATA}/{endpoint}/{answer.headers['Location'].rpartition('/')[2]}"

        categories = [{"educationOrganizationCategoryDescriptor": CATEGORY}]
        grades = [{"gradeLevelDescriptor": GRADE}]
        paths = {
            "school": post(
                "schools",
                schoolId=1,
                nameOfInstitution="Lark",
                educationOrganizationCategories=categories,
                gradeLevels=grades,
            ),
            "enrolled": post("students", **STUDENT, studentUniqueId="enrolled"),
            "stranger": post("students", **STUDENT, studentUniqueId="stranger", middleName="Zoë"),
        }
        paths["enrollment"] = post(
            "studentSchoolAssociations",
            studentReference={"studentUniqueId": "enrolled"},
            schoolReference={"schoolId": 1},
            entryDate="2025-08-20",
            entryGradeLevelDescriptor=GRADE,
        )
        tokens = {"sandbox": server.token, "revoked": server.another_token(), "expired": server.another_token()}
        tokens |= tokens_of_new_clients(server)
        load_profile(server, home.with_name("bound.json"), "Bound", "middleName")
        with psycopg.connect(server.database_url, autocommit=True) as database:
            database.execute(_REVOKE, [tokens["revoked"].encode()])
            database.execute(_EXPIRE, [tokens["expired"].encode()])
            database.execute(_ASSIGN, ["bound", "Bound"])
        yield World(server, tokens | {"unknown": "unknown", "malformed": "a b"}, paths)


def load_profile(server: RealServer, file: Path, name: str, hidden: str) -> None:
    """A profile under which students are read without a member."""
    rule = {"memberSelection": "ExcludeOnly", "properties": [hidden]}
    file.write_text(json.dumps({"profiles": [{"name": name, "resources": [{"name": "Student", "read": rule}]}]}))
    server.manage("load_profiles", str(file))


def tokens_of_new_clients(server: RealServer) -> dict[str, str]:
    """By the client's name. One process makes all of them."""
    code = f"""
from django.core.management import call_command
for name, arguments in {CLIENTS!r}.items():
    call_command("create_api_client", name, "--claim-set", *arguments, "--format", "json")
"""
    made, tokens = server.manage("shell", "-v", "0", "-c", code).decode().strip(), {}
    with closing(RealClient(server.port, token="")) as client:
        for name in CLIENTS:
            credentials, end = json.JSONDecoder().raw_decode(made)
            made = made[end:].lstrip()
            key, secret = credentials["key"], credentials["secret"]
            body = {"grant_type": "client_credentials", "client_id": key, "client_secret": secret}
            tokens[name] = json.loads(client.send("POST", "/oauth/token", body).body)["access_token"]
    return tokens


def spellings(path: str) -> list[str]:
    """The path, and others that lead to the same, to no or to a wrong place."""
    collection, _, id_ = path.rpartition("/")
    return [
        path,
        path,
        path.upper().replace("DATA", "data"),
        f"{collection}/{id_.replace('-', '')}",
        f"{path}/",
        f"{path}?fields=firstName",
        f"{path}?",
        path.replace(DATA, "/data/v3/ed-fi"),
        f"{collection}/{UUID(int=2)}",
        f"{collection}/{'g' * 32}",
        f"{collection}/{id_[:-1]}",
        f"{DATA}/contacts/{id_}",
        f"{DATA}/larks/{id_}",
        f"{collection}/{id_[:-1]}%3{ord(id_[-1]) % 10}",
        f"{path}?fields=firstName&correlationId=of-query",
        *(f"{collection}{query}" for query in PAGES),
    ]


PAGES = [
    "",
    "/",
    "?limit=1",
    "?limit=1&offset=1&totalCount=true",
    "?offset=1&limit=1",
    "?limit=501",
    "?pageSize=1&pageToken=AAAAAAAAAAEAAAAAAAAAZA",
    "?fields=id&limit=2",
    "?orderBy=firstName",
    "?minChangeVersion=1&limit=1",
    "?firstName=Mae&limit=1",
    "?firstName=%4Dae",
    "?nothing=1",
    "?limit=1&limit=2",
    "/partitions?number=2",
    "/deletes",
]


def writes(paths: dict[str, str]) -> list[tuple[str, str, bytes | None]]:
    """Method, path and body of writes that may be repeated: from the second one on they change nothing."""
    student = STUDENT | {"studentUniqueId": "stranger", "middleName": "Zoë"}
    school = {"schoolReference": {"schoolId": 1}, "studentReference": {"studentUniqueId": "enrolled"}}
    enrollment = school | {"entryDate": "2025-08-20", "entryGradeLevelDescriptor": GRADE}
    bodies: list[Any] = [
        student,
        student,
        student | {"birthDate": "2/3/2010"},
        student | {"unknown": 1},
        student | {"birthDate": "2010-02-30"},
        student | {"id": paths["stranger"].rpartition("/")[2]},
        student | {"id": paths["stranger"].rpartition("/")[2], "studentUniqueId": "another"},
        enrollment,
        enrollment,
        enrollment | {"schoolReference": {"schoolId": 99}},
        enrollment | {"entryGradeLevelDescriptor": "uri://ed-fi.org/GradeLevelDescriptor#None"},
        {},
        [],
        student | {"middleName": "x" * 20_000},
    ]
    texts = [json.dumps(body, ensure_ascii=False).encode() for body in bodies]
    texts += [b"", b"{", b'{"a": 1, "a": 2}', b"\xff", b"\xef\xbb\xbf" + texts[0]]
    collections = [f"{DATA}/students", f"{DATA}/studentSchoolAssociations", "/data/v3/ed-fi/students?a=b"]
    items = [paths["stranger"], paths["enrollment"], f"{DATA}/students/{UUID(int=1)}", f"{paths['stranger'][:-1]}g"]
    return [
        *(("POST", path, text) for path in collections for text in texts),
        *(("PUT", path, text) for path in items for text in texts),
        *(("DELETE", path, None) for path in [*items[2:], paths["school"], paths["enrolled"], f"{DATA}/students"]),
        *(("HEAD", path, None) for path in [paths["stranger"], f"{DATA}/students"]),
        ("POST", paths["stranger"], texts[0]),
    ]


HEADERS: list[dict[str, str]] = [
    {},
    {},
    {"Accept": "application/json"},
    {"Accept": "application/vnd.ed-fi.student.nobody.readable+json"},
    {"Accept": "application/xml"},
    {"If-None-Match": "*"},
    {"If-Match": "*"},
    {"If-Match": '"1-l"'},
    {"Prefer": "handling=strict"},
    {"Prefer": "handling=lenient"},
    {"Content-Encoding": "gzip"},
    {"Content-Type": "application/vnd.ed-fi.student.nobody.writable+json"},
    {"If-None-Match": '"1-l"'},
    {"Use-Snapshot": "true"},
    {"Use-Snapshot": "false"},
    {"Accept-Encoding": "gzip"},
    {"Host": "elsewhere.example"},
    {"X-Forwarded-For": "203.0.113.7"},
    {"X-Forwarded-Proto": "https"},
    {"Content-Type": "application/json; charset=latin-1"},
    {"Correlationid": "mine <é>".encode().decode("latin-1")},
    {"Correlationid": "mine"},
    {"Cookie": "a=b"},
]


@given(st.data())
@settings(max_examples=EXAMPLES, deadline=None, derandomize=True, database=None)
def test_both_ways_answer_count_and_log_the_same(world: World, data: st.DataObject) -> None:
    reads = [("GET", each, None) for path in world.paths.values() for each in spellings(path)]
    requests = data.draw(
        st.lists(
            st.tuples(
                st.sampled_from(sorted(world.tokens)),
                st.one_of(st.sampled_from(reads), st.sampled_from(writes(world.paths))),
                st.sampled_from(HEADERS),
            ),
            min_size=20,
            max_size=30,
        )
    )
    with closing(Sender(world.server)) as sender:

        def answers(further: dict[str, str]) -> list[Answer]:
            """Each request twice: the first one may prepare the second."""
            found = []
            for token, (method, path, body), headers in requests:
                sent = {"Authorization": bearer(world.tokens[token])} | headers | further
                found += [sender.send(method, path, body, sent) for _ in range(2)]
            return list(map(comparable, found))

        answers(LONG_WAY)  # What the requests write is there, so that all the following ones find the same.
        long_way, counted_long, logged_long = observed(world.server, sender, lambda: answers(LONG_WAY))
        short_way, counted_short, logged_short = observed(world.server, sender, lambda: answers({}))

    assert short_way == long_way
    assert counted_short == counted_long
    assert logged_short == logged_long
    assert len(logged_short) >= len(short_way)


# Many entries of one cause at a time are summed up in one without their values, so those are not compared.
_REFUSED = "SELECT DISTINCT resource, operation, status, problem, title, cause_text FROM refusal"
_DONE = """
SELECT set, entry - -1, sum((entry ->> -1)::int)::int
  FROM run_minute, jsonb_each(counts - 'times' - 'reads') AS sets (set, entries), jsonb_array_elements(entries) AS entry
 GROUP BY 1, 2
"""


def test_both_ways_leave_the_same_in_the_ledger_and_in_what_clients_did(
    world: World, database: psycopg.Connection
) -> None:
    def done() -> Counter[str]:
        return Counter({json.dumps(facts): number for *facts, number in database.execute(_DONE)})

    def kept(further: dict[str, str]) -> tuple[set[Any], Counter[str]]:
        """Send each write twice, and a last one; return the entries of the ledger, and what has been counted."""
        database.execute("DELETE FROM refusal")
        before = done()
        with closing(Sender(world.server)) as sender:
            for method, path, body in [*writes(world.paths), ("POST", f"{DATA}/staffs", b"{}")]:
                sent = {"Authorization": bearer(world.tokens["sandbox"])} | further
                for _ in range(2):
                    sender.send(method, path, body, sent)

        def grown() -> Counter[str]:
            return Counter(
                {facts: number - before[facts] for facts, number in done().items() if number > before[facts]}
            )

        def last_is_there() -> bool:
            in_ledger = database.execute("SELECT FROM refusal WHERE resource = '/ed-fi/staffs'").rowcount
            return bool(in_ledger) and any("staffs" in facts and number == 2 for facts, number in grown().items())

        wait_until(last_is_there, 30, "the last write is not recorded")
        return set(database.execute(_REFUSED)), grown()

    kept(LONG_WAY)
    in_ledger_long, done_long = kept(LONG_WAY)
    in_ledger_short, done_short = kept({})

    assert in_ledger_short == in_ledger_long
    assert done_short == done_long
    assert len(in_ledger_short) > 10
    assert len(done_short) > 20


@pytest.mark.parametrize("end", ["/", "?", "/?"])
@pytest.mark.parametrize("token", ["sandbox", "bound"])
def test_a_path_with_something_after_the_id_is_answered_each_time(world: World, token: str, end: str) -> None:
    with closing(Sender(world.server)) as sender:
        path, authorization = world.paths["enrolled"], bearer(world.tokens[token])
        expected = comparable(sender.get(path, Authorization=authorization))

        answers = [comparable(sender.get(f"{path}{end}", Authorization=authorization)) for _ in range(4)]

    assert expected.status == 200
    assert answers == [expected] * 4


def comparable(answer: Answer) -> Answer:
    """Without what differs between two answers to the same request."""
    headers = [(name, value) for name, value in answer.headers if name not in ("date", "correlationid")]
    sent = [value for name, value in answer.headers if name == "correlationid" and value == "mine"]
    if answer.status < 400 or not answer.body:
        return Answer(answer.status, [*headers, ("correlationid", *sent)], answer.body)
    return Answer(answer.status, headers, json.dumps(json.loads(answer.body) | {"correlationId": sent}).encode())


def observed(
    server: RealServer, sender: Sender, send: Callable[[], list[Answer]]
) -> tuple[list[Answer], Counter[str], list[Any]]:
    """The answers, how metrics have grown, and the lines of the log."""
    before, position = metrics(sender), server.log.stat().st_size
    answers = send()
    # On the short way a request is counted and logged after it has been answered, while the next one may be at work.
    # Refused requests have a line of the audit log as well.
    wait_until(lambda: len(requests_in_log(server, position)) >= len(answers), 10, "too few lines in the log")
    grown = metrics(sender)
    grown.subtract(before)
    facts = sorted(lines_of_requests(server, position), key=json.dumps)
    return answers, Counter({name: value for name, value in grown.items() if value}), facts


def requests_in_log(server: RealServer, position: int) -> list[dict[str, Any]]:
    return [line for line in lines_of_requests(server, position) if line["logger"] == "meadowlark.requests"]


def lines_of_requests(server: RealServer, position: int) -> list[dict[str, Any]]:
    """What the lines of the log after a position say of requests, without what differs between two equal ones."""
    logged = server.log.read_bytes()[position:].decode().splitlines(keepends=True)
    lines = [json.loads(line) for line in logged if line.startswith("{") and line.endswith("\n")]
    differing = ("time", "timestamp", "correlation_id", "milliseconds", "message")
    return [
        {name: fact for name, fact in line.items() if name not in differing}
        for line in lines
        if line.get("resource") != "metrics"
    ]


def metrics(sender: Sender) -> Counter[str]:
    """The counters of requests but those of this page."""
    lines = sender.get("/metrics").body.decode().splitlines()
    return Counter(
        {
            name: int(float(value))
            for name, _, value in (line.rpartition(" ") for line in lines)
            if name.startswith(_OF_METRICS) and 'view="metrics"' not in name and 'route="metrics"' not in name
        }
    )


def test_a_changed_document_and_a_deleted_one_are_read_as_they_are(world: World) -> None:
    with closing(RealClient(world.server.port, world.server.token)) as client:
        path = client.send("POST", f"{DATA}/students", STUDENT | {"studentUniqueId": "changed"}).headers["Location"]
        path = path.partition(f":{world.server.port}")[2]
        first = [client.send("GET", path) for _ in range(3)]
        body = json.loads(first[0].body)
        assert {each.body for each in first} == {first[0].body}

        assert client.send("PUT", path, body | {"firstName": "Ida"}).status == 204
        changed = client.send("GET", path)
        assert client.send("DELETE", path).status == 204
        deleted = [client.send("GET", path).status for _ in range(2)]

    assert json.loads(changed.body)["firstName"] == "Ida"
    assert changed.headers["ETag"] != first[0].headers["ETag"]
    assert deleted == [404, 404]


def test_what_a_policy_allows_is_decided_at_each_request(world: World) -> None:
    with closing(RealClient(world.server.port, world.server.token)) as client, closing(Sender(world.server)) as related:
        student = client.send("POST", f"{DATA}/students", STUDENT | {"studentUniqueId": "leaves"}).headers["Location"]
        path = student.partition(f":{world.server.port}")[2]

        def status() -> int:
            return related.get(path, Authorization=bearer(world.tokens["related"])).status

        before = status()
        enrollment = client.send(
            "POST",
            f"{DATA}/studentSchoolAssociations",
            {
                "studentReference": {"studentUniqueId": "leaves"},
                "schoolReference": {"schoolId": 1},
                "entryDate": "2025-08-20",
                "entryGradeLevelDescriptor": GRADE,
            },
        ).headers["Location"]
        enrolled = [status() for _ in range(3)]
        assert client.send("DELETE", enrollment.partition(f":{world.server.port}")[2]).status == 204

        assert (before, enrolled, status()) == (403, [200, 200, 200], 403)


@pytest.fixture
def database(world: World) -> Iterator[psycopg.Connection]:
    with psycopg.connect(world.server.database_url, autocommit=True) as connection:
        yield connection


def test_a_revoked_token_is_refused_in_the_time_of_the_cache(world: World, database: psycopg.Connection) -> None:
    token = world.server.another_token()
    with closing(Sender(world.server)) as sender:

        def status() -> int:
            return sender.get(world.paths["stranger"], Authorization=bearer(token)).status

        before = [status() for _ in range(3)]
        database.execute(_REVOKE, [token.encode()])
        # Revocation takes effect within this time; polling would not prove it.
        time.sleep(world.server.TOKEN_CACHE_SECONDS)

        assert (before, status()) == ([200, 200, 200], 401)


def test_a_token_ends_when_it_expires(world: World, database: psycopg.Connection) -> None:
    token = world.server.another_token()
    ending = _REVOKE.replace("DELETE FROM", "UPDATE").replace("WHERE", "SET expires = now() + interval '1 s' WHERE")
    database.execute(ending, [token.encode()])
    with closing(Sender(world.server)) as sender:

        def status() -> int:
            return sender.get(world.paths["stranger"], Authorization=bearer(token)).status

        before = {status() for _ in range(3)}
        time.sleep(1)

        assert (before, status()) == ({200}, 401)


def test_a_changed_claim_set_takes_effect_in_the_time_of_the_cache(world: World, database: psycopg.Connection) -> None:
    token = world.server.another_token()
    [claim_set] = database.execute("SELECT id FROM security_claimset WHERE name = 'EdFiSandbox'").fetchone()
    grants = database.execute("SELECT actions, id FROM security_grant WHERE claim_set_id = %s", [claim_set]).fetchall()
    with closing(Sender(world.server)) as sender:

        def status() -> int:
            return sender.get(world.paths["stranger"], Authorization=bearer(token)).status

        before = {status() for _ in range(3)}
        database.execute("UPDATE security_grant SET actions = '{Create}' WHERE claim_set_id = %s", [claim_set])
        time.sleep(world.server.TOKEN_CACHE_SECONDS)
        changed = status()
        database.cursor().executemany("UPDATE security_grant SET actions = %s WHERE id = %s", grants)
        time.sleep(world.server.TOKEN_CACHE_SECONDS)

        assert (before, changed, status()) == ({200}, 403, 200)


def test_what_another_token_has_noticed_of_a_claim_set_applies_at_once(
    world: World, database: psycopg.Connection
) -> None:
    """As for every request: a process compiles a claim set for all of its clients."""
    [claim_set] = database.execute("SELECT id FROM security_claimset WHERE name = 'EdFiSandbox'").fetchone()
    grants = database.execute("SELECT actions, id FROM security_grant WHERE claim_set_id = %s", [claim_set]).fetchall()
    with closing(Sender(world.server)) as sender:

        def status(token: str) -> int:
            return sender.get(world.paths["stranger"], Authorization=bearer(token)).status

        token, another = world.server.another_token(), world.server.another_token()
        before = {status(token) for _ in range(2)}
        database.execute("UPDATE security_grant SET actions = '{Create}' WHERE claim_set_id = %s", [claim_set])
        noticed = status(another), status(token)
        database.cursor().executemany("UPDATE security_grant SET actions = %s WHERE id = %s", grants)
        time.sleep(world.server.TOKEN_CACHE_SECONDS)

    assert (before, noticed) == ({200}, (403, 403))


def test_an_assigned_profile_takes_effect_in_the_time_of_the_cache(
    world: World, database: psycopg.Connection, tmp_path: Path
) -> None:
    token = world.tokens["other"]
    with closing(Sender(world.server)) as sender:

        def names() -> set[str]:
            answer = sender.get(world.paths["stranger"], Authorization=bearer(token))
            return set(json.loads(answer.body)) & {"firstName", "lastSurname"}

        before = [names() for _ in range(3)]
        load_profile(world.server, tmp_path / "profiles.json", "Short", "firstName")
        database.execute(_ASSIGN, ["other", "Short"])
        time.sleep(world.server.TOKEN_CACHE_SECONDS)
        bound = names()
        database.execute("DELETE FROM profiles_profileassignment")

    assert (before, bound) == ([{"firstName", "lastSurname"}] * 3, {"lastSurname"})


def test_a_database_that_was_restarted_is_used_again(world: World) -> None:
    with closing(Sender(world.server)) as sender:

        def answer() -> Answer:
            return sender.get(world.paths["stranger"], Authorization=bearer(world.server.token))

        before = [answer() for _ in range(3)]
        world.server.kill_database(signal.SIGQUIT)
        during = answer().status
        world.server.start_database()
        wait_until(lambda: answer().status == 200, 20)
        after = [answer() for _ in range(3)]

    assert during == 503
    assert {each.body for each in after} == {before[0].body}


def test_connections_that_were_lost_fail_no_request(world: World, database: psycopg.Connection) -> None:
    terminate = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'meadowlark'"
    with closing(Sender(world.server)) as sender:

        def status() -> int:
            return sender.get(world.paths["stranger"], Authorization=bearer(world.server.token)).status

        before = {status() for _ in range(3)}
        assert database.execute(terminate).rowcount > 0
        after = {status() for _ in range(3)}

    assert (before, after) == ({200}, {200})
