"""What servers ask of PostgreSQL for their connections, whatever the database has by default."""

import os
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from tests.support.databases import connection, database_url

TOP = Path(__file__).parents[3]
SERVER = """
import meadowlark.wsgi
from django.db import connection
with connection.cursor() as cursor:
    for name in ("max_parallel_workers_per_gather", "jit", "random_page_cost", "statement_timeout"):
        cursor.execute(f"SHOW {name}")
        print(*cursor.fetchone())
"""
OF_POSTGRESQL = {"max_parallel_workers_per_gather": "2", "jit": "on", "random_page_cost": "4", "statement_timeout": "0"}


@pytest.mark.django_db(transaction=True)
def test_requests_are_planned_for_indexes_on_a_database_with_the_defaults_of_postgresql(transactional_db: None) -> None:
    url = database_url()
    database = sql.Identifier(connection.settings_dict["NAME"])
    with psycopg.connect(url, autocommit=True) as altering:
        for name, value in OF_POSTGRESQL.items():
            altering.execute(sql.SQL("ALTER DATABASE {} SET {} = {}").format(database, sql.SQL(name), value))
        try:
            environment = os.environ | {"DATABASE_URL": url}
            shown = subprocess.check_output([sys.executable, "-c", SERVER], cwd=TOP, env=environment, text=True)
        finally:
            altering.execute(sql.SQL("ALTER DATABASE {} RESET ALL").format(database))

    assert shown.split() == ["0", "off", "1.1", "1min"]
