"""The caller of a request: an API client with its rights, as they were when its token was looked up."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import OuterRef
from django.utils import timezone

from edfi_api.core.data_stores.models import DataStoresVersion
from edfi_api.core.security.models import ApiClient, ApiClientDataStore, Application, ClaimsVersion

# Work that takes longer looks its client up again.
_LIFE_OF_WORK = timedelta(days=1)


@dataclass(frozen=True)
class AuthenticatedClient:
    """The caller of a request: an API client, as it was when its token was last looked up.

    `row_id` is the primary key of the `ApiClient`, stored as the creator of documents; `claims_version` is the version
    of all claims at that time.
    """

    row_id: int
    key: str
    name: str
    # None if the claim set that the application names does not exist.
    claim_set_id: int | None
    claim_set_name: str
    claims_version: int
    education_organization_ids: tuple[int, ...]
    namespace_prefixes: tuple[str, ...]
    token_expires: datetime
    # The primary keys of the profiles that the application's clients are bound by.
    profile_ids: tuple[int, ...] = ()
    # Id and name of the tenant that it belongs to.
    tenant_id: int | None = None
    tenant: str | None = None
    # The ids of the data stores that it may use, and the version of all data stores at that time.
    data_store_ids: frozenset[int] = frozenset()
    data_stores_version: int = 0
    # Django REST framework reads this attribute of a request's user.
    is_authenticated: bool = True

    @cached_property
    def uses_data_stores(self) -> bool:
        """Whether its requests are for data stores, and none for the admin database."""
        return bool(self.data_store_ids) or self.tenant_id is not None


def facts_of_client(client: str, application: str) -> Mapping[str, Any]:
    """Annotations of a query with what `authenticated_client` needs in addition to the row of the client. Both are
    paths from the rows of the query to primary keys."""
    return {
        "claims_version": ClaimsVersion.objects.values("version"),
        "profile_ids": ArraySubquery(
            Application.objects.filter(pk=OuterRef(application), profiles__isnull=False)
            .order_by()
            .values("profiles__pk")
        ),
        "data_store_ids": ArraySubquery(
            ApiClientDataStore.objects.filter(api_client=OuterRef(client)).values("data_store")
        ),
        "data_stores_version": DataStoresVersion.objects.values("version"),
    }


def authenticated_client(client: ApiClient, facts: Any, expires: datetime, scope: str = "") -> AuthenticatedClient:
    """`facts` is the row with the annotations of `facts_of_client`. The token `expires` at that time, and is limited to
    the organization `scope` unless that is empty."""
    application = client.application
    tenant = application.vendor.tenant
    return AuthenticatedClient(
        row_id=client.pk,
        key=client.client_id,
        name=client.name,
        claim_set_id=application.claim_set_id,
        claim_set_name=application.claim_set_name,
        claims_version=facts.claims_version,
        education_organization_ids=_within_scope(application.education_organization_ids, scope),
        namespace_prefixes=tuple(application.vendor.namespace_prefixes),
        token_expires=min(expires, client.expires_at or expires),
        profile_ids=tuple(facts.profile_ids),
        tenant_id=application.vendor.tenant_id,
        tenant=None if tenant is None else tenant.name,
        data_store_ids=frozenset(facts.data_store_ids),
        data_stores_version=facts.data_stores_version,
    )


def client_of_row(row_id: int) -> AuthenticatedClient | None:
    """The API client with this primary key, as it is now, for work of the server on its behalf; None if it is inactive
    or has expired."""
    now = timezone.now()
    found = (
        ApiClient.objects.select_related("application__vendor__tenant")
        .annotate(**facts_of_client("pk", "application"))
        .filter(pk=row_id, is_active=True)
        .exclude(expires_at__lte=now)
        .first()
    )
    return None if found is None else authenticated_client(found, found, now + _LIFE_OF_WORK)


def _within_scope(education_organization_ids: list[int], scope: str) -> tuple[int, ...]:
    """All organizations of the application, or the one to which the token's scope is limited."""
    return tuple(each for each in education_organization_ids if not scope or str(each) == scope)
