"""What identifies the views of the configured model, computed without compiling it."""

from edfi_api.common.conf import api_settings
from edfi_api.features import sql_views
from edfi_api.model.surface.cache import CODE_PACKAGES, fingerprint


def current_fingerprint() -> str:
    """A digest of the model's sources and of the code that derives views from them."""
    return fingerprint(api_settings.model_sources, (*CODE_PACKAGES, sql_views))
