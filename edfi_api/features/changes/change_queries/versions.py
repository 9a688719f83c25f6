"""The newest change version up to which all changes are visible.

`sql/documents.sql` explains why the number is safe with concurrent writers.
"""

from edfi_api.core.storage.driver.execution import execute, with_retries
from edfi_api.core.storage.driver.sql import Sql

_NEWEST = Sql("SELECT newest_change_version()")


def newest_change_version(using: str) -> int:
    """The version up to which a query that starts after this call sees every change there will ever be.

    `using` must be the primary: a replica may lag behind the versions that clients have seen.
    """
    version: int = with_retries(lambda: execute(_NEWEST, using))[0][0]
    return version
