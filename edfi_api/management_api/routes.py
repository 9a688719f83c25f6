"""The addresses of the management API."""

from collections.abc import Callable, Iterator, Mapping

from django.http.response import HttpResponseBase
from django.urls import URLPattern

from edfi_api.addresses import below, fixed_path
from edfi_api.conf import api_settings

from .collections import Collection
from .connect import IntrospectView, RegisterView, RevokeView, TokenView
from .information import HealthView, InformationView, JwksView, OpenIdView
from .v3.api_clients import ApiClients
from .v3.applications import Applications
from .v3.authorization_metadata import AuthorizationMetadataView
from .v3.claim_sets import ClaimSets
from .v3.data_store_parts import DataStoreContexts, DataStoreDerivatives
from .v3.data_stores import DataStores
from .v3.grants import Grants
from .v3.hierarchy import (
    ActionsView,
    AuthorizationStrategiesView,
    ResourceClaimActionAuthStrategiesView,
    ResourceClaimActionsView,
    ResourceClaimsView,
)
from .v3.profiles import Profiles
from .v3.tenants import Tenants
from .v3.vendors import Vendors
from .views import ManagementView, UnknownAddressView

V3: tuple[type[Collection], ...] = (
    Vendors,
    Applications,
    ApiClients,
    ClaimSets,
    Profiles,
    DataStores,
    DataStoreContexts,
    DataStoreDerivatives,
    Tenants,
)
# Further addresses: actions by method.
FURTHER_V3: Mapping[str, tuple[type[Collection], dict[str, str]]] = {
    "vendors/<id>/applications": (Vendors, {"get": "applications"}),
    "apiClients/<id>/reset-credential": (ApiClients, {"put": "reset_credential"}),
    "dataStores/<id>/applications": (Applications, {"get": "of_data_store"}),
    "dataStores/<id>/state": (DataStores, {"put": "state"}),
    "claimSets/copy": (ClaimSets, {"post": "copy"}),
    "claimSets/import": (ClaimSets, {"post": "import_"}),
    "claimSets/<id>/export": (ClaimSets, {"get": "export"}),
    "claimSets/<id>/resourceClaimActions": (Grants, {"post": "add_grant"}),
    "claimSets/<id>/resourceClaimActions/<claim_id>": (Grants, {"put": "change_grant", "delete": "remove_grant"}),
    "claimSets/<id>/resourceClaimActions/<claim_id>/overrideAuthorizationStrategy": (Grants, {"post": "override"}),
    "claimSets/<id>/resourceClaimActions/<claim_id>/resetAuthorizationStrategies": (Grants, {"post": "reset"}),
}
VIEWS_V3: Mapping[str, type[ManagementView]] = {
    "resourceClaims": ResourceClaimsView,
    "resourceClaims/<id>": ResourceClaimsView,
    "resourceClaimActions": ResourceClaimActionsView,
    "resourceClaimActionAuthStrategies": ResourceClaimActionAuthStrategiesView,
    "actions": ActionsView,
    "authorizationStrategies": AuthorizationStrategiesView,
    "authorizationMetadata": AuthorizationMetadataView,
}


def management_routes(path: str) -> list[URLPattern]:
    """All routes, below the path; at the root of the server if it is empty."""
    prefix = f"{path.strip('/')}/" if path.strip("/") else ""
    routes = [
        fixed_path(prefix.rstrip("/"), InformationView.as_view(), "management-information"),
        fixed_path(f"{prefix}health", HealthView.as_view(), "management-health"),
        fixed_path(f"{prefix}.well-known/openid-configuration", OpenIdView.as_view(), "management-openid"),
        fixed_path(f"{prefix}.well-known/jwks.json", JwksView.as_view(), "management-jwks"),
        *_connect(prefix),
        *_collections(prefix),
    ]
    rest = below(path.strip("/"), UnknownAddressView.as_view(), "management-unknown") if prefix else None
    return [*routes, *([rest] if rest else [])]


def _connect(prefix: str) -> Iterator[URLPattern]:
    views = {"register": RegisterView, "token": TokenView, "introspect": IntrospectView, "revoke": RevokeView}
    for name, view in views.items():
        yield fixed_path(f"{prefix}connect/{name}", view.as_view(), f"management-{name}")
        # Ed-Fi's servers have the context of a data store behind it, which means nothing here.
        yield below(f"{prefix}connect/{name}", view.as_view(), f"management-{name}-of-context")


def _collections(prefix: str) -> Iterator[URLPattern]:
    for address, view in VIEWS_V3.items():
        yield fixed_path(f"{prefix}v3/{address}", view.as_view(), f"management-v3-{address}")
    further = dict(FURTHER_V3)
    if api_settings.APPLICATION_RESET:
        further["applications/<id>/reset-credential"] = (Applications, {"put": "reset_credential"})
    for address, (collection, actions) in further.items():
        yield fixed_path(f"{prefix}v3/{address}", _view(collection, actions), f"management-v3-{address}")
    for collection in V3:
        address = f"{prefix}v3/{collection.address}"
        name = f"management-v3-{collection.address}"
        yield fixed_path(address, _view(collection, collection.methods_of_list()), f"{name}-list")
        yield fixed_path(f"{address}/<id>", _view(collection, collection.methods_of_item()), f"{name}-item")


def _view(collection: type[Collection], actions: Mapping[str, str]) -> Callable[..., HttpResponseBase]:
    return collection.as_view(dict(actions))
