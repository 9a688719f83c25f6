"""PgBouncer in transaction mode, where every transaction may run on another connection to PostgreSQL."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.ports import ADDRESS, free_port, is_answering
from tests.whole.robustness.accounts import ACCOUNT, let_in
from tests.whole.robustness.waiting import wait_until

# Few connections to PostgreSQL, so that clients share them.
_CONFIGURATION = """
[databases]
* = host={socket} user=meadowlark
[pgbouncer]
listen_addr = {address}
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 3
max_client_conn = 500
"""


@contextmanager
def running_pooler(postgres: Path, url: str, folder: Path) -> Iterator[str]:
    """Runs PgBouncer, with its file in `folder`, in front of the server of a data folder and a URL; its own URL."""
    let_in(postgres, url)
    port = free_port()
    configuration = folder / "pgbouncer.ini"
    configuration.write_text(_CONFIGURATION.format(socket=postgres, address=ADDRESS, port=port))
    account = ["--user", ACCOUNT] if os.geteuid() == 0 else []  # as PostgreSQL, it refuses to run as root
    process = subprocess.Popen(["pgbouncer", "--quiet", *account, str(configuration)])
    try:
        wait_until(lambda: is_answering(port), 10)
        yield f"postgresql://meadowlark@{ADDRESS}:{port}/meadowlark"
    finally:
        process.terminate()
        process.wait(10)
