"""The newest change version up to which nothing is missing any more.

Why the number is safe, while writers run, stands where it is made: in `sql/0001_documents.sql`.
"""

from django.db import DEFAULT_DB_ALIAS

from edfi_api.documents.execution import execute, with_retries

_NEWEST = "SELECT newest_change_version()"


def newest_change_version(using: str = DEFAULT_DB_ALIAS) -> int:
    """Rows that are read after this has returned, up to this version, are all there will ever be.

    `using` is the database that is written to: what a replica shows may be behind what its primary has published.
    """
    return with_retries(lambda: execute(_NEWEST, {}, using))[0][0]
