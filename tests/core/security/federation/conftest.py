"""An identity provider whose tokens the server accepts, and API clients that it knows."""

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from pytest_django import Settings

from edfi_api.core.security.clients import create_client
from edfi_api.core.security.models import ApiClient, ExternalIdentity
from tests.core.security.federation.identity_provider import (
    AUDIENCE,
    CLIENT,
    IdentityProvider,
    ec_key,
    write_issuers,
)

Accept = Callable[..., None]


@pytest.fixture
def provider() -> Iterator[IdentityProvider]:
    with IdentityProvider(published=[ec_key().public()]) as running:
        yield running


@pytest.fixture
def accept(settings: Settings, tmp_path: Path) -> Accept:
    """Accept tokens of these providers: entries of the file, or members of the only one."""
    files = count()

    def configure(provider: IdentityProvider, *others: dict[str, Any], **members: Any) -> None:
        entry = {"issuer": provider.issuer, "audience": AUDIENCE, "algorithms": ["ES256"], **members}
        path = write_issuers(tmp_path / f"issuers{next(files)}.json", entry, *others)
        settings.EDFI_API = {**settings.EDFI_API, "OIDC_ISSUERS": path}

    return configure


@pytest.fixture
def known(provider: IdentityProvider, accept: Accept, db: None) -> ApiClient:
    """The API client that the provider calls `district-sis`."""
    accept(provider)
    return external_client(provider, CLIENT)


def external_client(provider: IdentityProvider, value: str, name: str = "Lakeside SIS", **options: Any) -> ApiClient:
    credentials = create_client(name, "EdFiSandbox", [255901], ["uri://ed-fi.org"], **options)
    client = ApiClient.objects.get(client_id=credentials.key)
    ExternalIdentity.objects.create(api_client=client, issuer=provider.issuer, value=value)
    return client
