"""Reads fixed statements from `.sql` files."""

import re
from collections.abc import Callable
from pathlib import Path

from edfi_api.core.storage.driver.sql import Sql

_COMMENT = re.compile(r"^\s*--.*\n", re.MULTILINE)


def statements_beside(module: str) -> Callable[[str], Sql]:
    """Reads statements by name from the folder `statements` beside a module, given its `__file__`.

    Lines of comments are left out: they give the reason of a statement to its readers, not to the server. A statement
    may have slots for `Sql.fill`.
    """
    folder = Path(module).with_name("statements")

    def statement(name: str) -> Sql:
        return Sql(_COMMENT.sub("", (folder / f"{name}.sql").read_text(encoding="utf-8")).strip())

    return statement
