"""Admin pages for vendors, applications, API clients, claim sets and access tokens.

Importing the modules registers their pages; django-oauth-toolkit registers those of clients and tokens by the names of
its settings (`oauth/oauth_settings.py`).
"""

from .api_clients import AccessTokenAdmin, ApiClientAdmin, UnusedAdmin
from .claim_sets import ClaimSetAdmin, GrantAdmin
from .pages import OneByOneAdmin
from .resource_claims import ResourceClaimAdmin
from .vendors import ApplicationAdmin, VendorAdmin

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
