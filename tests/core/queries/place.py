"""Facts about a seeded database on which the shapes of queries depend."""

import psycopg

from tests.core.queries.shapes import RESOURCE, Place

_QUERY = """
SELECT (SELECT count(*) FROM document d JOIN resource_type t ON t.id = d.resource_type_id WHERE t.name = 'School'),
       count(*), (max(d.id) + min(d.id)) / 2, max(d.id)
  FROM document d WHERE d.resource_type_id = (SELECT id FROM resource_type WHERE name = %s)
"""


def place(connection: psycopg.Connection) -> Place:
    """Reads every document of one resource."""
    row = connection.execute(_QUERY, [RESOURCE]).fetchone()
    return Place(*row) if row else Place(0, 0, 0, 0)
