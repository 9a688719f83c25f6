"""Admin pages for vendors, applications, API clients, claim sets and access tokens.

Importing the modules registers their pages; django-oauth-toolkit registers those of clients and tokens by the names of
its settings (`oauth/oauth_settings.py`).
"""

from edfi_api.core.security.admin.api_clients import AccessTokenAdmin, ApiClientAdmin, UnusedAdmin
from edfi_api.core.security.admin.claim_sets import ClaimSetAdmin, GrantAdmin
from edfi_api.core.security.admin.pages import OneByOneAdmin
from edfi_api.core.security.admin.resource_claims import ResourceClaimAdmin
from edfi_api.core.security.admin.vendors import ApplicationAdmin, VendorAdmin

__all__ = [
    "AccessTokenAdmin",
    "ApiClientAdmin",
    "ApplicationAdmin",
    "ClaimSetAdmin",
    "GrantAdmin",
    "OneByOneAdmin",
    "ResourceClaimAdmin",
    "UnusedAdmin",
    "VendorAdmin",
]
