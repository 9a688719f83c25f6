"""Routes of the token endpoints, and of the page that shows a secret one time."""

from edfi_api.common import addresses
from edfi_api.common.addresses import fixed_path
from edfi_api.core.security.oauth.views import SecretView, TokenInfoView, TokenView
from edfi_api.core.served import current_surface

urlpatterns = [
    fixed_path(addresses.OAUTH, TokenView.as_view(), "oauth-token"),
    fixed_path(addresses.SHOWN_ONCE, SecretView.as_view(), "secret"),
    fixed_path(addresses.INTROSPECTION, TokenInfoView.as_view(surface=current_surface()), "oauth-token-info"),
]
