"""Django's database router: which database has which tables."""

from typing import Any

from django.db import DEFAULT_DB_ALIAS

from .provisioning_state import DATA_APPS


class DataStoreRouter:
    """The tables of documents lie in every database, all others in the control database only. It does not choose a
    database for queries: statements name theirs."""

    def allow_migrate(self, db: str, app_label: str, **hints: Any) -> bool:
        return db == DEFAULT_DB_ALIAS or app_label in DATA_APPS
