"""The account for programs that refuse to run as root, such as PgBouncer: that of the embedded PostgreSQL."""

import os
from pathlib import Path

import psycopg

from tests.support import superuser

# The account for these programs if root runs the tests.
ACCOUNT = "nobody"


def let_in(data: Path, url: str) -> None:
    """Lets the running server of this data folder accept connections of that account until it stops."""
    if os.geteuid() == 0:
        with (data / "pg_ident.conf").open("a") as names:
            names.write(f'owner "{ACCOUNT}" all\n')
        with psycopg.connect(superuser.url_of(url)) as connection:
            connection.execute("SELECT pg_reload_conf()")
