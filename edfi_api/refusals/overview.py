"""Open entries by vendor, from the counts that triggers keep."""

from django.db import connection

_BY_VENDOR = """
SELECT v.name, sum(o.entries)::bigint
  FROM open_refusals o
  JOIN security_apiclient c ON c.id = o.client
  JOIN security_application a ON a.id = c.application_id
  JOIN security_vendor v ON v.id = a.vendor_id
 GROUP BY v.name ORDER BY v.name
"""


def open_by_vendor() -> list[tuple[str, int]]:
    """Names of vendors with the numbers of open entries of their clients."""
    with connection.cursor() as cursor:
        cursor.execute(_BY_VENDOR)
        return list(cursor.fetchall())
