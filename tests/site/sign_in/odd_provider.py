"""A provider that answers what a test says: wrong tokens, and no OpenID Connect at all."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs

import jwt

from tests.support.oidc.provider import rsa_key


class OddProvider:
    """Answers by path; `send` sets the ID token."""

    def __init__(self, server: ThreadingHTTPServer) -> None:
        self.issuer = f"http://127.0.0.1:{server.server_address[1]}"
        self.key = rsa_key("one")
        public = {name: value for name, value in self.key.items() if name in ("kty", "n", "e", "kid", "use", "alg")}
        self.answers: dict[str, tuple[int, dict[str, str], bytes]] = {}
        # Whether the ID token is the code itself.
        self.sends_codes_back = False
        self.requests: list[tuple[str, str, str]] = []
        self.answer(
            "/.well-known/openid-configuration",
            issuer=self.issuer,
            authorization_endpoint=f"{self.issuer}/auth",
            token_endpoint=f"{self.issuer}/token",
            jwks_uri=f"{self.issuer}/jwks",
        )
        self.answer("/jwks", keys=[public])

    def answer(self, path: str, status: int = 200, **members: Any) -> None:
        self.answers[path] = (status, {"Content-Type": "application/json"}, json.dumps(members).encode())

    def claims(self, nonce: str, **others: Any) -> dict[str, Any]:
        now = int(time.time())
        mine = {"iss": self.issuer, "aud": "meadowlark-admin", "sub": "maria", "iat": now, "exp": now + 60}
        return mine | {"nonce": nonce, "groups": ["edfi-data"], "preferred_username": "maria"} | others

    def send(self, claims: dict[str, Any], key: Any = None, algorithm: str = "RS256", **header: Any) -> None:
        """The token endpoint answers with an ID token of these claims."""
        self.answer("/token", id_token=self.token(claims, key, algorithm, **header), access_token="opaque")

    def token(self, claims: dict[str, Any], key: Any = None, algorithm: str = "RS256", **header: Any) -> str:
        signing = key if key is not None else jwt.PyJWK(self.key).key
        return jwt.encode(claims, signing, algorithm, headers={"kid": "one"} | header)


@contextmanager
def odd_provider() -> Iterator[OddProvider]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer("")

        def do_POST(self) -> None:
            self._answer(self.rfile.read(int(self.headers["Content-Length"])).decode())

        def _answer(self, body: str) -> None:
            provider.requests.append((self.path, self.headers.get("Authorization", ""), body))
            status, headers, content = provider.answers.get(self.path, (404, {}, b""))
            if provider.sends_codes_back and self.path == "/token":
                tokens = {"id_token": parse_qs(body)["code"][0], "access_token": "opaque"}
                status, content = 200, json.dumps(tokens).encode()
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: Any) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    provider = OddProvider(server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
