"""Addresses of sandboxes, as they are printed and shown."""

import os

from edfi_api.common import addresses
from edfi_api.common.conf import api_settings
from edfi_api.common.settings_table import SETTINGS
from edfi_api.features.sandboxes.models import Sandbox


def default_address() -> str:
    """The address of a server of this machine with these settings."""
    port = SETTINGS["PORT"]
    return f"http://127.0.0.1:{os.environ.get(port.variable) or port.default}"


def address_of(sandbox: Sandbox, server: str) -> str:
    """The base address for the client of a sandbox."""
    store = sandbox.data_store
    values = {each.key.casefold(): each.value for each in store.contexts.all()}
    segments = [store.tenant.name] if store.tenant else []
    segments += [values[name.casefold()] for name in api_settings.ROUTE_QUALIFIERS if name.casefold() in values]
    return "/".join([server.rstrip("/"), *segments])


def link_of(server: str, token: str) -> str:
    """The address of the page that shows a secret once."""
    return f"{server.rstrip('/')}/{addresses.SHOWN_ONCE}#{token}"
