"""Tenants of a server."""

from collections.abc import Callable
from typing import Any

from edfi_api.core.data_stores.models import DataStore
from edfi_api.core.data_stores.stores import create_tenant
from edfi_api.core.security.clients import create_client
from edfi_api.core.security.models import ApiClient
from tests.conftest import http
from tests.core.data_stores.conftest import StoreClient


class Tenant:
    """A tenant with a data store and a client."""

    def __init__(self, name: str, make_store: Callable[..., DataStore], context: dict[str, str]) -> None:
        self.row = create_tenant(name)
        self.store = make_store(self.row, **context)
        self.credentials = create_client(f"sis of {name}", "EdFiSandbox", tenant=self.row)
        ApiClient.objects.get(name=f"sis of {name}").data_stores.add(self.store)

    def token(self, address: str = "") -> Any:
        """The answer of the token endpoint at this address."""
        return http().post(
            f"{address}/oauth/token",
            {
                "grant_type": "client_credentials",
                "client_id": self.credentials.key,
                "client_secret": self.credentials.secret,
            },
            content_type="application/json",
        )

    def at(self, address: str) -> StoreClient:
        """The client with this context, and a token from the address without one."""
        return StoreClient(self.token().json()["access_token"], address)
