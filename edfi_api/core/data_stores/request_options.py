"""Options of the database sessions of requests, which limit how long one may occupy a thread and hold locks. Commands
have none. Imports no model, since servers set them before Django's apps are loaded."""

from typing import Any

REQUEST_OPTIONS = "REQUEST_OPTIONS"


def limit(database: dict[str, Any], options: str) -> None:
    """Add options to an entry of Django's databases; behind a pooler in transaction mode there are no session
    options. The entry keeps them for data stores that are added later."""
    database[REQUEST_OPTIONS] = options
    if options and not database["DISABLE_SERVER_SIDE_CURSORS"]:
        given = database["OPTIONS"].get("options", "")
        database["OPTIONS"]["options"] = f"{given} {options}".strip()
