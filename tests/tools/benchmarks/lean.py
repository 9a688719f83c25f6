"""The server of the lean view, see `lean_application.py`."""

from contextlib import AbstractContextManager
from pathlib import Path

import psutil

from tests.support.server_processes import Server, constant_view

_APPLICATION = "tests.tools.benchmarks.lean_application:application"


def lean_view(server: Server, home: Path) -> AbstractContextManager[tuple[int, psutil.Process]]:
    """Runs the lean view over the database of `server`, whose home this is; yields port and process."""
    environment = {"DATABASE_URL": server.database_url, "MEADOWLARK_HOME": str(home)}
    return constant_view(home.with_name("lean"), application=_APPLICATION, **environment)
