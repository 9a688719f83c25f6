"""The addresses of the management API."""

from collections.abc import Iterator, Mapping
from typing import Any

from django.urls import URLPattern
from rest_framework.routers import DynamicRoute, Route, SimpleRouter

from edfi_api.common.addresses import below, fixed_path
from edfi_api.common.conf import api_settings
from edfi_api.features.management_api import resource_claims as claims
from edfi_api.features.management_api.claim_sets import ClaimSetViewSet
from edfi_api.features.management_api.connect import (
    InformationView,
    IntrospectView,
    JwksView,
    ManagementHealthView,
    ManagementTokenView,
    OpenIdView,
    RegisterView,
    RevokeView,
    SpecificationView,
)
from edfi_api.features.management_api.data_stores import (
    ConnectionViewSet,
    ContextViewSet,
    DataStoreStateViewSet,
    DerivativeViewSet,
    TenantViewSet,
)
from edfi_api.features.management_api.openapi_schema import Address
from edfi_api.features.management_api.vendors import ApiClientViewSet, ApplicationViewSet, ProfileViewSet, VendorViewSet
from edfi_api.features.management_api.version_2 import VIEWS
from edfi_api.features.management_api.views import ManagementViewSet, UnknownAddressView

# These views are the same in both versions, but for limits and errors.
_LISTS: Mapping[str, type[ManagementViewSet]] = {
    "resourceClaimActions": claims.ResourceClaimActionsViewSet,
    "resourceClaimActionAuthStrategies": claims.ResourceClaimStrategiesViewSet,
    "actions": claims.ActionViewSet,
    "authorizationStrategies": claims.AuthorizationStrategyViewSet,
}
_VERSION_3: Mapping[str, type[ManagementViewSet]] = {
    "vendors": VendorViewSet,
    "applications": ApplicationViewSet,
    "apiClients": ApiClientViewSet,
    "claimSets": ClaimSetViewSet,
    "profiles": ProfileViewSet,
    "dataStores": DataStoreStateViewSet,
    "dataStoreContexts": ContextViewSet,
    "dataStoreDerivatives": DerivativeViewSet,
    "tenants": TenantViewSet,
    "connections": ConnectionViewSet,
    "resourceClaims": claims.ResourceClaimViewSet,
    "authorizationMetadata": claims.AuthorizationMetadataViewSet,
}


class ManagementRouter(SimpleRouter):
    """Makes the addresses of view sets, of which each knows its version and its collection."""

    routes = [
        Route("{prefix}", {"get": "list", "post": "create"}, "{basename}-list", detail=False, initkwargs={}),
        DynamicRoute("{prefix}/{url_path}", "{basename}-{url_name}", detail=False, initkwargs={}),
        Route(
            "{prefix}/{lookup}",
            {"get": "retrieve", "put": "update", "delete": "destroy"},
            "{basename}-detail",
            detail=True,
            initkwargs={},
        ),
        DynamicRoute("{prefix}/{lookup}/{url_path}", "{basename}-{url_name}", detail=True, initkwargs={}),
    ]

    def addresses(
        self, version: str, collection: str, view_set: type[ManagementViewSet], **attributes: Any
    ) -> Iterator[Address]:
        """All addresses of a collection, whose views have these attributes; those that are more special come first."""
        for route in self.get_routes(view_set):
            path = route.url.format(prefix=collection, lookup=f"<{view_set.lookup_url_kwarg}>").lstrip("/")
            actions: dict[str, Any] = self.get_method_map(view_set, route.mapping)
            if actions:
                own = {"version": version, "address": collection, **attributes, **route.initkwargs}
                yield Address(version, path, view_set.as_view(actions, **own))


def all_addresses() -> list[Address]:
    """Return the addresses of both versions."""
    router = ManagementRouter()
    version_3, version_2 = {**_VERSION_3, **_LISTS}, {**VIEWS, **{name: (view, {}) for name, view in _LISTS.items()}}
    found = [
        *(each for name, view in version_3.items() for each in router.addresses("v3", name, view)),
        *(each for name, (view, other) in version_2.items() for each in router.addresses("v2", name, view, **other)),
        *router.addresses("management", "", claims.ClaimsUploadViewSet),
    ]
    if api_settings.APPLICATION_RESET:
        return found
    return [each for each in found if each.path != "applications/<id>/reset-credential"]


def management_routes(path: str) -> list[URLPattern]:
    """All routes, below the path; at the root of the server if it is empty."""
    prefix = f"{path.strip('/')}/" if path.strip("/") else ""
    addresses = all_addresses()
    specification = SpecificationView.as_view(addresses=addresses)
    routes = [
        fixed_path(prefix.rstrip("/"), InformationView.as_view(), "management-information"),
        fixed_path(f"{prefix}health", ManagementHealthView.as_view(), "management-health"),
        fixed_path(f"{prefix}metadata/specifications", specification, "management-specification"),
        fixed_path(f"{prefix}.well-known/openid-configuration", OpenIdView.as_view(), "management-openid"),
        fixed_path(f"{prefix}.well-known/jwks.json", JwksView.as_view(), "management-jwks"),
        *_connect(prefix),
        *(
            fixed_path(f"{prefix}{each.version}/{each.path}", each.view, f"management-{each.version}-{each.path}")
            for each in addresses
        ),
    ]
    return [*routes, *([below(path.strip("/"), UnknownAddressView.as_view(), "management-unknown")] if prefix else [])]


def _connect(prefix: str) -> Iterator[URLPattern]:
    views = {"register": RegisterView, "token": ManagementTokenView, "introspect": IntrospectView, "revoke": RevokeView}
    for name, view in views.items():
        yield fixed_path(f"{prefix}connect/{name}", view.as_view(), f"management-{name}")
        # Ed-Fi's servers have the context of a data store after it, which means nothing here.
        yield below(f"{prefix}connect/{name}", view.as_view(), f"management-{name}-of-context")
