"""SQL views on a subscriber of logical replication, which is made as meadowlark/docs/operate/sql-views.md
describes."""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from edfi_api.features.changes.change_stream.management.commands.create_publication import TABLES
from meadowlark.run.embedded_postgres import DURABLE, EmbeddedPostgres
from tests.support import superuser
from tests.whole.robustness.accounts import let_in
from tests.whole.robustness.waiting import wait_until

TOP = Path(__file__).parents[3]
PAGE = TOP / "meadowlark/docs/operate/sql-views.md"
SCHOOL = {
    "resource": "/ed-fi/schools",
    "body": {
        "schoolId": 770_001,
        "nameOfInstitution": "Lark High",
        "educationOrganizationCategories": [
            {
                "educationOrganizationCategoryDescriptor": (
                    "uri://ed-fi.org/EducationOrganizationCategoryDescriptor#School"
                )
            }
        ],
        "gradeLevels": [{"gradeLevelDescriptor": "uri://ed-fi.org/GradeLevelDescriptor#First grade"}],
    },
}


class Database:
    """A migrated database of a server of its own."""

    def __init__(self, postgres: EmbeddedPostgres) -> None:
        self.postgres = postgres

    def manage(self, *arguments: str | Path) -> None:
        environment = os.environ | {"DATABASE_URL": self.postgres.url, "MEADOWLARK_HOME": str(self.postgres.home)}
        subprocess.run([sys.executable, "manage.py", *arguments], cwd=TOP, env=environment, check=True)

    def query(self, statement: str, url: str = "") -> list[tuple[Any, ...]]:
        with psycopg.connect(url or self.postgres.url, autocommit=True) as connection:
            found = connection.execute(statement)
            return found.fetchall() if found.description else []


@pytest.fixture
def databases(prepared_home) -> Iterator[tuple[Database, Database]]:
    """The primary and the database that shall become its replica."""
    # Outside pytest's folder, which PostgreSQL's account may not enter.
    with tempfile.TemporaryDirectory(prefix="meadowlark-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        homes = [prepared_home(folder / each) for each in ("primary", "replica")]
        logical = DURABLE | {"wal_level": "logical", "shared_buffers": "32MB"}
        with EmbeddedPostgres(homes[0], logical) as primary, EmbeddedPostgres(homes[1], logical) as replica:
            let_in(homes[0] / "postgres", primary.url)
            yield Database(primary), Database(replica)


@pytest.mark.long
def test_a_logical_replica_shows_what_the_primary_has(databases, tmp_path) -> None:
    primary, replica = databases
    lines = tmp_path / "school.jsonl"
    lines.write_text(json.dumps(SCHOOL) + "\n")
    primary.manage("load_documents", lines)
    primary.manage("create_publication")
    truncate, subscribe = re.findall(r"""psql REPLICA -c ['"](.*)['"]\n""", PAGE.read_text())
    assert set(TABLES) == set(re.findall(r"\w+", truncate)) - {"TRUNCATE", "CASCADE"}

    replica.query(truncate)
    administrator = superuser.url_of(replica.postgres.url)
    replica.query(subscribe.replace("PRIMARY", superuser.url_of(primary.postgres.url)), administrator)
    ready = "SELECT bool_and(srsubstate = 'r') FROM pg_subscription_rel"
    wait_until(lambda: replica.query(ready, administrator) == [(True,)], 60)
    replica.manage("create_sql_views", "--copy", "edfi.school")

    found = "SELECT o.nameofinstitution FROM edfi.school s JOIN edfi.educationorganization o"
    name = f"{found} ON o.educationorganizationid = s.schoolid"
    below = "SELECT count(*)::int FROM auth.educationorganizationidtoeducationorganizationid"
    assert replica.query(name) == [("Lark High",)]
    assert replica.query(below) == [(1,)]

    primary.query(
        """UPDATE document SET body = body || '{"nameOfInstitution": "Lark Middle"}' WHERE body ? 'schoolId'"""
    )
    wait_until(lambda: replica.query(name) == [("Lark Middle",)], 60)

    primary.query("DELETE FROM document WHERE body ? 'schoolId'")
    wait_until(lambda: replica.query(below) == [(0,)], 60)
    replica.manage("refresh_sql_views")
    assert replica.query("SELECT * FROM edfi.school") == []
