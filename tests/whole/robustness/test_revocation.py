"""All workers of a server refuse a revoked token within the documented time."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager

import psycopg

from tests.whole.robustness.real_server import RealClient, RealServer
from tests.whole.robustness.waiting import wait_until

_REVOKE = "DELETE FROM oauth2_provider_accesstoken WHERE token_checksum = encode(sha256(%s::bytea), 'hex')"
_TAKE_THE_RIGHT = "UPDATE security_grant SET actions = '{Create}' WHERE claim_set_id = %s"
_RESTORE_ACTIONS = "UPDATE security_grant SET actions = %s WHERE id = %s"
_DISABLE = "UPDATE security_apiclient SET is_active = %s"


def statuses(server: RealServer, token: str) -> set[int]:
    """Statuses of requests on enough new connections to reach every worker."""

    def send(_: int) -> int:
        with closing(RealClient(server.port, token)) as client:
            return client.send("GET", "/data/ed-fi/students?limit=1").status

    with ThreadPoolExecutor(8) as pool:
        return set(pool.map(send, range(24)))


@contextmanager
def shut_out(server: RealServer) -> Iterator[psycopg.Connection]:
    """A connection for changes by others, which are reverted at the end."""
    with psycopg.connect(server.database_url, autocommit=True) as connection:
        grants = connection.execute("SELECT actions, id FROM security_grant").fetchall()
        try:
            yield connection
        finally:
            connection.execute(_DISABLE, [True])
            connection.cursor().executemany(_RESTORE_ACTIONS, grants)


def test_no_worker_accepts_a_revoked_client(real_server: RealServer) -> None:
    revoked, kept = real_server.another_token(), real_server.another_token()
    assert statuses(real_server, revoked) == statuses(real_server, kept) == {200}

    with shut_out(real_server) as connection:
        connection.execute(_REVOKE, [revoked.encode()])
        [claim_set] = connection.execute("SELECT id FROM security_claimset WHERE name = 'EdFiSandbox'").fetchone()
        connection.execute(_TAKE_THE_RIGHT, [claim_set])
        # Revocation takes effect within this time; polling earlier would not prove it.
        time.sleep(real_server.TOKEN_CACHE_SECONDS)
        assert statuses(real_server, revoked) == {401}
        assert statuses(real_server, kept) == {403}

        connection.execute(_DISABLE, [False])
        time.sleep(real_server.TOKEN_CACHE_SECONDS)
        assert statuses(real_server, kept) == {401}

    wait_until(lambda: statuses(real_server, kept) == {200}, seconds=30)
