"""The addresses of the management API."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from django.http.response import HttpResponseBase
from django.urls import URLPattern

from edfi_api.common.addresses import below, fixed_path
from edfi_api.common.conf import api_settings
from edfi_api.features.management_api.answers import FORMS
from edfi_api.features.management_api.collections import Collection
from edfi_api.features.management_api.http.authorization_metadata import AuthorizationMetadataView
from edfi_api.features.management_api.http.claims_upload import CurrentView, ReloadView, UploadView
from edfi_api.features.management_api.http.connect import IntrospectView, ManagementTokenView, RegisterView, RevokeView
from edfi_api.features.management_api.http.information import (
    InformationView,
    JwksView,
    ManagementHealthView,
    OpenIdView,
)
from edfi_api.features.management_api.http.openapi import Address, SpecificationView
from edfi_api.features.management_api.v2 import claim_sets as claim_sets_v2
from edfi_api.features.management_api.v2 import collections as v2
from edfi_api.features.management_api.v2 import ods_instances
from edfi_api.features.management_api.v3 import resource_claims
from edfi_api.features.management_api.v3.api_clients import ApiClients
from edfi_api.features.management_api.v3.applications import Applications
from edfi_api.features.management_api.v3.claim_sets import ClaimSets, Grants
from edfi_api.features.management_api.v3.data_stores import DataStoreContexts, DataStoreDerivatives, DataStores, Tenants
from edfi_api.features.management_api.v3.exchange_connections import Connections
from edfi_api.features.management_api.v3.profiles import Profiles
from edfi_api.features.management_api.v3.vendors import Vendors
from edfi_api.features.management_api.views import UnknownAddressView

_COLLECTIONS: tuple[type[Collection], ...] = (
    Vendors,
    Applications,
    ApiClients,
    ClaimSets,
    Profiles,
    DataStores,
    DataStoreContexts,
    DataStoreDerivatives,
    Tenants,
    Connections,
    v2.VendorsV2,
    v2.ApplicationsV2,
    v2.ApiClientsV2,
    v2.ProfilesV2,
    claim_sets_v2.ClaimSetsV2,
    ods_instances.OdsInstances,
    ods_instances.OdsInstanceContexts,
    ods_instances.OdsInstanceDerivatives,
)
_Further = Mapping[str, tuple[type[Collection], dict[str, str]]]


def _further(collections: Mapping[str, type[Collection]], *, clients: str, stores: str) -> _Further:
    """Addresses that are no list and no item; `clients` and `stores` are the addresses of these in the version."""
    applications, claim_sets, grants = (collections[name] for name in ("applications", "claimSets", "grants"))
    of_claim = "claimSets/<id>/resourceClaimActions/<claim_id>"
    resets = {"put": "reset_credential"}
    return {
        **({"applications/<id>/reset-credential": (applications, resets)} if api_settings.APPLICATION_RESET else {}),
        f"{clients}/<id>/reset-credential": (collections["clients"], resets),
        "vendors/<id>/applications": (collections["vendors"], {"get": "applications"}),
        f"{stores}/<id>/applications": (applications, {"get": "of_data_store"}),
        "claimSets/copy": (claim_sets, {"post": "copy"}),
        "claimSets/import": (claim_sets, {"post": "import_"}),
        "claimSets/<id>/export": (claim_sets, {"get": "export"}),
        "claimSets/<id>/resourceClaimActions": (grants, {"post": "add_grant"}),
        of_claim: (grants, {"put": "change_grant", "delete": "remove_grant"}),
        f"{of_claim}/overrideAuthorizationStrategy": (grants, {"post": "override"}),
        f"{of_claim}/resetAuthorizationStrategies": (grants, {"post": "reset"}),
    }


_V3: Mapping[str, type[Collection]] = {
    "vendors": Vendors,
    "applications": Applications,
    "clients": ApiClients,
    "claimSets": ClaimSets,
    "grants": Grants,
}
_V2: Mapping[str, type[Collection]] = {
    "vendors": v2.VendorsV2,
    "applications": v2.ApplicationsV2,
    "clients": v2.ApiClientsV2,
    "claimSets": claim_sets_v2.ClaimSetsV2,
    "grants": claim_sets_v2.GrantsV2,
}
# The same in both versions, but for limits and errors.
_LISTS: Mapping[str, type[Any]] = {
    "resourceClaimActions": resource_claims.ResourceClaimActionsView,
    "resourceClaimActionAuthStrategies": resource_claims.ResourceClaimActionAuthStrategiesView,
    "actions": resource_claims.ActionsView,
    "authorizationStrategies": resource_claims.AuthorizationStrategiesView,
}
_VIEWS: Mapping[str, Mapping[str, type[Any]]] = {
    "v3": {
        "resourceClaims": resource_claims.ResourceClaimsList,
        "resourceClaims/import": resource_claims.ClaimsImportView,
        "resourceClaims/<id>": resource_claims.ResourceClaimItem,
        **_LISTS,
        "authorizationMetadata": AuthorizationMetadataView,
    },
    "v2": {
        "resourceClaims": resource_claims.ResourceClaimsView,
        "resourceClaims/<id>": resource_claims.ResourceClaimsView,
        **_LISTS,
        "tenants": ods_instances.TenantsView,
        "tenants/<name>": ods_instances.TenantsView,
    },
    "management": {
        "upload-claims": UploadView,
        "reload-claims": ReloadView,
        "current-claims": CurrentView,
    },
}


def all_addresses() -> list[Address]:
    """All of both versions; those that are more special come first."""
    further_v3 = {**_further(_V3, clients="apiClients", stores="dataStores"), **_OF_DATA_STORES}
    return [
        *_addresses_of_views(),
        *_further_addresses("v3", further_v3),
        *_further_addresses("v2", _further(_V2, clients="apiclients", stores="odsInstances")),
        *_addresses_of_collections(),
    ]


_OF_DATA_STORES: _Further = {
    "dataStores/<id>/state": (DataStores, {"put": "state"}),
    "dataStores/<id>/status": (DataStores, {"get": "status"}),
}


def _addresses_of_views() -> Iterator[Address]:
    for version, views in _VIEWS.items():
        for path, view in views.items():
            methods = [method for method in ("get", "post", "put", "delete") if hasattr(view, method)]
            yield Address(version, path, view, {method: method for method in methods}, is_view_set=False)


def _further_addresses(version: str, further: _Further) -> Iterator[Address]:
    for path, (collection, actions) in further.items():
        yield Address(version, path, collection, actions)


def _addresses_of_collections() -> Iterator[Address]:
    for each in _COLLECTIONS:
        yield Address(each.version, each.address, each, each.methods_of_list())
        yield Address(each.version, f"{each.address}/<id>", each, each.methods_of_item())


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
            fixed_path(f"{prefix}{each.version}/{each.path}", _view(each), f"management-{each.version}-{each.path}")
            for each in addresses
        ),
    ]
    rest = below(path.strip("/"), UnknownAddressView.as_view(), "management-unknown") if prefix else None
    return [*routes, *([rest] if rest else [])]


def _view(address: Address) -> Callable[..., HttpResponseBase]:
    of_version = {"version": address.version} if address.version in FORMS else {}
    view: Callable[..., HttpResponseBase] = (
        address.view.as_view(dict(address.actions)) if address.is_view_set else address.view.as_view(**of_version)
    )
    return view


def _connect(prefix: str) -> Iterator[URLPattern]:
    views = {"register": RegisterView, "token": ManagementTokenView, "introspect": IntrospectView, "revoke": RevokeView}
    for name, view in views.items():
        yield fixed_path(f"{prefix}connect/{name}", view.as_view(), f"management-{name}")
        # Ed-Fi's servers have the context of a data store behind it, which means nothing here.
        yield below(f"{prefix}connect/{name}", view.as_view(), f"management-{name}-of-context")
