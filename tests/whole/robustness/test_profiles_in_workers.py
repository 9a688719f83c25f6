"""All workers of a real server apply a profile, its changes and its assignments within the cache time of tokens."""

import json
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import psycopg

from tests.whole.robustness.real_server import RealClient, RealServer

STUDENT = {"studentUniqueId": "PROFILED", "firstName": "Mae", "lastSurname": "Ortiz", "birthDate": "2010-02-03"}
_ASSIGN = """
INSERT INTO profiles_profileassignment (application_id, profile_id)
SELECT a.id, p.id FROM security_application a CROSS JOIN profiles_profile p WHERE a.name = %s AND p.name = %s
"""
_REPLACE = "UPDATE profiles_profile SET definition = %s WHERE name = %s"


def definition(*hidden: str) -> str:
    rule = {"memberSelection": "ExcludeOnly", "properties": list(hidden)}
    return json.dumps({"name": "Workers", "resources": [{"name": "Student", "read": rule}]})


def shown(server: RealServer, token: str) -> set[str]:
    """The members of the student, or the status, on so many new connections that every worker gets some."""

    def ask(_: int) -> str:
        with closing(RealClient(server.port, token)) as client:
            answer = client.send("GET", "/data/ed-fi/students?studentUniqueId=PROFILED")
        if answer.status != 200:
            return str(answer.status)
        return " ".join(sorted(name for name in json.loads(answer.body)[0] if name in STUDENT))

    with ThreadPoolExecutor(8) as pool:
        return set(pool.map(ask, range(24)))


def test_every_worker_applies_profiles_within_the_cache_time(real_server: RealServer, tmp_path) -> None:
    file = tmp_path / "profiles.json"
    file.write_text(f'{{"profiles": [{definition("firstName")}]}}')
    token = real_server.token
    with closing(RealClient(real_server.port, token)) as client:
        assert client.send("POST", "/data/ed-fi/students", STUDENT).status == 201
    assert shown(real_server, token) == {"birthDate firstName lastSurname studentUniqueId"}
    real_server.manage("load_profiles", str(file))

    # Changes take effect within this time, which is the point of the test: no poll could show it.
    with psycopg.connect(real_server.database_url, autocommit=True) as connection:
        try:
            connection.execute(_ASSIGN, ["tests", "Workers"])
            time.sleep(real_server.TOKEN_CACHE_SECONDS)
            assert shown(real_server, token) == {"birthDate lastSurname studentUniqueId"}

            connection.execute(_REPLACE, [definition("lastSurname"), "Workers"])
            time.sleep(real_server.TOKEN_CACHE_SECONDS)
            assert shown(real_server, token) == {"birthDate firstName studentUniqueId"}

            connection.execute(_REPLACE, [definition("firstName").replace("ExcludeOnly", "Gone"), "Workers"])
            time.sleep(real_server.TOKEN_CACHE_SECONDS)
            assert shown(real_server, token) == {"403"}
        finally:
            connection.execute("DELETE FROM profiles_profileassignment")
            connection.execute("DELETE FROM profiles_profile")
        time.sleep(real_server.TOKEN_CACHE_SECONDS)
        assert shown(real_server, token) == {"birthDate firstName lastSurname studentUniqueId"}
