"""Admin pages for vendors, applications, API clients, claim sets and access tokens.

Importing the modules registers their pages; django-oauth-toolkit registers those of clients and tokens by the names of
its settings (`oauth/oauth_settings.py`).
"""

from edfi_api.site.model_admins.security.api_clients import AccessTokenAdmin, ApiClientAdmin, UnusedAdmin
from edfi_api.site.model_admins.security.claim_sets import ClaimSetAdmin, GrantAdmin
from edfi_api.site.model_admins.security.resource_claims import ResourceClaimAdmin
from edfi_api.site.model_admins.security.vendors import ApplicationAdmin, VendorAdmin

__all__ = [
    "AccessTokenAdmin",
    "ApiClientAdmin",
    "ApplicationAdmin",
    "ClaimSetAdmin",
    "GrantAdmin",
    "ResourceClaimAdmin",
    "UnusedAdmin",
    "VendorAdmin",
]
