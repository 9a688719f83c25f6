"""Many people over streamable HTTP: each request has a bearer token. Needs requirements/mcp.lock."""

from typing import Any

import uvicorn
from anyio import to_thread
from django.conf import settings
from django.db import connections
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.transport_security import TransportSecuritySettings
from pydantic import AnyHttpUrl
from starlette.applications import Starlette

from edfi_api.core.security.issuers import issuers
from edfi_api.features.questions.people import Place
from edfi_api.features.questions.server import Context, QuestionServer

PATH = "/mcp"
_MOST_SESSIONS = 200
_IDLE_SECONDS = 1800
_MOST_BYTES = 1_000_000


class BearerTokens:
    """Recognizes the people who may ask the database; the SDK refuses everybody else."""

    def __init__(self, place: Place) -> None:
        self._place = place

    async def verify_token(self, token: str) -> AccessToken | None:
        """Return who sends the token; None for one that opens nothing here."""
        return await to_thread.run_sync(self._verified, token)

    def _verified(self, token: str) -> AccessToken | None:
        try:
            reader = self._place.reader_of_token(token)
        finally:
            connections.close_all()
        if reader is None:
            return None
        return AccessToken(token=token, client_id=str(reader.pk), subject=reader.name, scopes=[])


def application(place: Place, url: str) -> Starlette:
    """Return the application; `url` is the address at which people reach it."""
    names = [issuer.issuer for issuer in issuers().values() if "questions" in issuer.use]
    # A server with tokens of its own alone announces no provider of tokens.
    auth = AuthSettings(
        issuer_url=AnyHttpUrl(names[0] if names else url),
        resource_server_url=AnyHttpUrl(url) if names else None,
        validate_token_resource=False if names else None,
    )
    hosts = [name for name in settings.ALLOWED_HOSTS if not name.startswith((".", "*"))]
    server = QuestionServer(place, _sender).protocol_server()
    return server.streamable_http_app(
        streamable_http_path=PATH,
        auth=auth,
        token_verifier=BearerTokens(place),
        transport_security=TransportSecuritySettings(
            allowed_hosts=[*hosts, *(f"{name}:*" for name in hosts)],
            allowed_origins=list(settings.CORS_ALLOWED_ORIGINS),
        ),
        max_request_body_size=_MOST_BYTES,
        max_sessions=_MOST_SESSIONS,
        session_idle_timeout=_IDLE_SECONDS,
    )


def serve_http(place: Place, host: str, port: int, url: str) -> None:
    """Serve until the process is stopped."""
    uvicorn.run(application(place, url), host=host, port=port, log_config=None, access_log=False, server_header=False)


def _sender(context: Context) -> int:
    """The reader whom the token of a request belongs to."""
    request: Any = context.request
    return int(request.scope["user"].access_token.client_id)
