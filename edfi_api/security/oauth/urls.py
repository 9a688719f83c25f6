"""Routes of the token endpoints."""

from edfi_api import addresses
from edfi_api.addresses import fixed_path
from edfi_api.startup import current_surface

from .endpoint import TokenView
from .introspection import TokenInfoView

urlpatterns = [
    fixed_path(addresses.OAUTH, TokenView.as_view(), "oauth-token"),
    fixed_path(addresses.INTROSPECTION, TokenInfoView.as_view(surface=current_surface()), "oauth-token-info"),
]
