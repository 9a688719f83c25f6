"""The roles of an embedded server: who may do what in its databases.

    postgres          the superuser, for operators: psql "host=.home/postgres user=postgres dbname=meadowlark"
    meadowlark        the application: owns its database, and may create those of data stores
    meadowlark_rules  queries of rules: reads what the application grants, see `features/validation/connections.py`
    meadowlark_sql    owns the views of `create_sql_views --row-filter`; no one logs in as it

Homes of earlier versions have one role, a superuser `meadowlark` that owns everything. It is renamed, and what it owns
is given to the new `meadowlark`. Each step is a transaction that changes nothing when it is repeated, so a start that
was killed is completed by the next one. The comment of a role says that all is done.
"""

# ruff: noqa: S603 - the commands run here are psql and our own scripts.

import hashlib
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from meadowlark.run.postgres_programs import EmbeddedPostgresError, binaries

SUPERUSER = "postgres"
APPLICATION = "meadowlark"
RULES = "meadowlark_rules"

_SCRIPTS = Path(__file__).parent / "sql"
_ROLES, _DATABASE = _SCRIPTS / "roles.sql", _SCRIPTS / "database.sql"
_RENAMER = "meadowlark_renamer"
_DONE = "SELECT shobj_description(to_regrole('meadowlark_rules'), 'pg_authid')"
# template0 accepts no connections, and databases are created from it. Others without are copies that can be made again.
_DATABASES = "SELECT datname FROM pg_database WHERE datallowconn OR datname = 'template0' ORDER BY datname"
# The one that PostgreSQL's initdb makes; it stays a superuser.
_FIRST_ROLE = "SELECT rolname FROM pg_roles WHERE oid = 10"
_NO_SUCH_ROLE = f'role "{SUPERUSER}" does not exist'


def ensure_roles(socket_folder: Path) -> None:
    """Create the roles on a running server and give the application what it owns, unless that is done.

    Raises EmbeddedPostgresError.
    """
    _Server(socket_folder).ensure_roles()


class _Server:
    def __init__(self, socket_folder: Path) -> None:
        self._socket_folder = socket_folder

    def ensure_roles(self) -> None:
        if self._is_of_an_earlier_version():
            self._rename_superuser()
        mark = f"Queries of rules of validation ({_digest()})"
        if self._psql("--command", _DONE).strip() == mark:
            return
        self._psql("--single-transaction", "--file", str(_ROLES))
        for database in self._psql("--command", _DATABASES).split():
            with self._accepting_connections(database):
                self._psql("--single-transaction", "--file", str(_DATABASE), database=database)
        self._psql("--command", f"COMMENT ON ROLE {RULES} IS '{mark}'")

    def _is_of_an_earlier_version(self) -> bool:
        try:
            return self._psql("--command", _FIRST_ROLE).strip() != SUPERUSER
        except EmbeddedPostgresError as error:
            if _NO_SUCH_ROLE not in str(error):
                raise
            return True

    def _rename_superuser(self) -> None:
        """Rename the superuser by another one, since no role can rename itself; `roles.sql` drops it."""
        self._psql("--command", f"DROP ROLE IF EXISTS {_RENAMER}", user=APPLICATION)
        self._psql("--command", f"CREATE ROLE {_RENAMER} SUPERUSER LOGIN", user=APPLICATION)
        self._psql("--command", f"ALTER ROLE {APPLICATION} RENAME TO {SUPERUSER}", user=_RENAMER)

    @contextmanager
    def _accepting_connections(self, database: str) -> Iterator[None]:
        if database != "template0":
            yield
            return
        self._psql("--command", "ALTER DATABASE template0 ALLOW_CONNECTIONS true")
        try:
            yield
        finally:
            self._psql("--command", "ALTER DATABASE template0 ALLOW_CONNECTIONS false")

    def _psql(self, *arguments: str, user: str = SUPERUSER, database: str = "postgres") -> str:
        """Return what psql prints. Raises EmbeddedPostgresError."""
        where = [f"--host={self._socket_folder}", f"--username={user}", f"--dbname={database}"]
        how = ["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set=ON_ERROR_STOP=1"]
        command = [str(binaries() / "psql"), *where, *how, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise EmbeddedPostgresError(f"The roles of the database were not created: {done.stderr.strip()}")
        return done.stdout


def _digest() -> str:
    return hashlib.sha256(_ROLES.read_bytes() + _DATABASE.read_bytes()).hexdigest()[:12]
