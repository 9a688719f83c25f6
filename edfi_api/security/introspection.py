"""What a token stands for, told to its own bearer. Source: security.md §9."""

from urllib.parse import parse_qsl

import orjson
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from .exceptions import UnusableToken
from .tokens import AuthenticatedClient

_LONGEST_BODY = 16 * 1024


class TokenInfoView(APIView):
    """`POST /oauth/token_info`: the body repeats the token of the header, as a form or as JSON."""

    http_method_names = ["post"]

    def post(self, request: Request) -> Response:
        token = _token(request._request.read(_LONGEST_BODY))
        if token is None:
            raise UnusableToken("The token was not present, or was not processable.")
        if token != request.auth:
            raise UnusableToken("The Authorization header token does not match the token in the request body.")
        return Response(_token_info(request.user), headers={"Cache-Control": "no-cache"})


def _token(body: bytes) -> str | None:
    """The member `token` in any case; whether JSON or a form is sent shows in the body itself."""
    try:
        fields = orjson.loads(body) if body.lstrip().startswith(b"{") else dict(parse_qsl(body.decode()))
    except ValueError:
        return None
    token = next((value for name, value in fields.items() if name.lower() == "token"), None)
    return token if isinstance(token, str) else None


def _token_info(client: AuthenticatedClient) -> dict[str, object]:
    """What is known of the client without its claim set: neither resources nor what lies below its organizations."""
    return {
        "active": True,
        "client_id": client.key,
        "exp": int(client.token_expires.timestamp()),
        "namespace_prefixes": client.namespace_prefixes,
        "education_organizations": [
            {"education_organization_id": each} for each in sorted(client.education_organization_ids)
        ],
        "assigned_profiles": [],
        "claim_set": {"name": client.claim_set_name},
    }
