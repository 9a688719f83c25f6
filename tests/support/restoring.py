"""Restores the database of the tests to what `migrate` left, after a test that committed.

Django's `flush` empties every table and sends `post_migrate`, which fills claim sets, permissions and resource types
again. This empties only the tables that a test changed, and copies back what `migrate` had written to them.

Tests that roll back leave dead rows. Autovacuum would remove them, and record that the tables are empty: PostgreSQL
then plans the statements of the next test for empty tables, which takes minutes instead of seconds if it writes many
rows. So the tables have no autovacuum, and those that have grown are restored, which leaves them as in a new database.
"""

import time

from django.contrib.contenttypes.models import ContentType
from django.db import connections

from tests.support.databases import ALL

_REMEMBER = """
CREATE SCHEMA restoring;
CREATE SCHEMA after_migrate;
CREATE TABLE restoring.table_state (name text PRIMARY KEY, place int NOT NULL, digest text NOT NULL);

-- Of its rows, in any order; '0:' if it has none.
CREATE FUNCTION restoring.digest(name text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE answer text;
BEGIN
    EXECUTE format('SELECT concat(count(*), '':'', sum(hashtextextended(row::text, 0))) FROM public.%I row', name)
        INTO answer;
    RETURN answer;
END $$;

CREATE FUNCTION restoring.has_rows(name text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE answer boolean;
BEGIN
    EXECUTE format('SELECT EXISTS (SELECT FROM public.%I)', name) INTO answer;
    RETURN answer;
END $$;

-- Every table, and its place behind the tables that it refers to.
WITH RECURSIVE base_table AS (
    SELECT oid, relname FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND relname <> 'django_migrations'
), foreign_key AS (
    SELECT conrelid, confrelid FROM pg_constraint WHERE contype = 'f' AND conrelid <> confrelid
), path (oid, above) AS (
    SELECT oid, ARRAY[oid] FROM base_table
    UNION ALL
    SELECT conrelid, above || conrelid FROM path JOIN foreign_key ON confrelid = oid WHERE conrelid <> ALL (above)
)
INSERT INTO restoring.table_state
SELECT relname, max(cardinality(above)), restoring.digest(relname)
FROM path JOIN base_table USING (oid) GROUP BY relname;

DO $$
DECLARE name text;
BEGIN
    FOR name IN SELECT state.name FROM restoring.table_state state WHERE digest <> '0:' LOOP
        EXECUTE format('CREATE TABLE after_migrate.%1$I AS TABLE public.%1$I', name);
    END LOOP;
    FOR name IN SELECT state.name FROM restoring.table_state state LOOP
        EXECUTE format('ALTER TABLE public.%I SET (autovacuum_enabled = off)', name);
    END LOOP;
END $$;

CREATE FUNCTION restoring.has_grown(name text) RETURNS boolean LANGUAGE sql
    RETURN pg_relation_size(format('public.%I', name)::regclass) > 1024 * 1024;

CREATE FUNCTION restoring.restore() RETURNS void LANGUAGE plpgsql AS $$
DECLARE changed text[]; each text; state record;
BEGIN
    WITH RECURSIVE touched (oid) AS (
        SELECT format('public.%I', name)::regclass::oid FROM restoring.table_state
        WHERE restoring.has_grown(name)
           OR CASE digest WHEN '0:' THEN restoring.has_rows(name) ELSE restoring.digest(name) <> digest END
        UNION
        SELECT conrelid FROM pg_constraint JOIN touched ON confrelid = touched.oid WHERE contype = 'f'
    )
    SELECT array_agg(oid::regclass::text) INTO changed FROM touched;
    IF changed IS NULL THEN RETURN; END IF;
    SET CONSTRAINTS ALL IMMEDIATE;
    -- Triggers count changes in other tables, which are restored, too.
    FOREACH each IN ARRAY changed LOOP
        EXECUTE format('ALTER TABLE %s DISABLE TRIGGER USER', each);
    END LOOP;
    EXECUTE 'TRUNCATE ' || array_to_string(changed, ', ');
    FOR state IN SELECT * FROM restoring.table_state
                 WHERE digest <> '0:' AND format('%I', name) = ANY (changed) ORDER BY place LOOP
        EXECUTE format('INSERT INTO public.%1$I OVERRIDING SYSTEM VALUE TABLE after_migrate.%1$I', state.name);
    END LOOP;
    FOREACH each IN ARRAY changed LOOP
        EXECUTE format('ALTER TABLE %s ENABLE TRIGGER USER', each);
    END LOOP;
END $$;
"""


_RESTORE_WHAT_HAS_GROWN = """
SELECT restoring.restore() WHERE EXISTS (SELECT FROM restoring.table_state WHERE restoring.has_grown(name))
"""
_remembered: set[str] = set()
# Looking at all tables takes as long as a request.
_SECONDS_BETWEEN_LOOKS = 0.5
_looked_at: dict[str, float] = {}


def remember_what_migrate_left() -> None:
    """To be called before a test commits."""
    for alias in set(ALL) - _remembered:
        with connections[alias].cursor() as cursor:
            cursor.execute(_REMEMBER)
        _remembered.add(alias)


def restore_what_migrate_left() -> None:
    """Waits for transactions that are still open; sequences go on."""
    for alias in ALL:
        with connections[alias].cursor() as cursor:
            cursor.execute("SELECT restoring.restore()")
    ContentType.objects.clear_cache()


def restore_what_has_grown() -> None:
    """To be called between tests; looks twice a second at most, and not within a transaction of several tests."""
    for alias in ALL:
        connection = connections[alias].connection
        if connections[alias].in_atomic_block or connection is None or connection.closed:
            continue
        if (now := time.monotonic()) < _looked_at.get(alias, 0) + _SECONDS_BETWEEN_LOOKS:
            continue
        _looked_at[alias] = now
        # Not by Django's cursors, which are for tests only.
        if alias not in _remembered:
            connection.execute(_REMEMBER)
            _remembered.add(alias)
        connection.execute(_RESTORE_WHAT_HAS_GROWN)
