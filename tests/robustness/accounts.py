"""Programs beside the embedded PostgreSQL that refuse to run as root, and so run as its own account."""

import os
from pathlib import Path

import psycopg

# The account that runs them where the tests are run by root.
ACCOUNT = "nobody"


def let_in(data: Path, url: str) -> None:
    """Have the server of this data folder, which is up, take connections of that account as well, until it stops."""
    if os.geteuid() == 0:
        with (data / "pg_ident.conf").open("a") as names:
            names.write(f'owner "{ACCOUNT}" all\n')
        with psycopg.connect(url) as connection:
            connection.execute("SELECT pg_reload_conf()")
