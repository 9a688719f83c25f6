"""Who sends a request, as it is known before the request is authenticated."""

from wsgiref.types import WSGIEnvironment

from edfi_api.common.logs.remote_address import address_in, subscriber
from edfi_api.core.security.requests.authentication import remembered_client, token_checksum
from meadowlark.serving.turns import Caller

_BEARER = "Bearer "


def caller_of(variables: WSGIEnvironment) -> Caller:
    """Return the API client whose token this process remembers; otherwise the address, so that no one is taken for many
    by sending many tokens. Never reads the database."""
    header: str = variables.get("HTTP_AUTHORIZATION", "")
    client = remembered_client(token_checksum(header[len(_BEARER) :])) if header.startswith(_BEARER) else None
    return Caller(subscriber(address_in(variables)), is_known=False) if client is None else Caller(client.key)
