"""An identity provider of tests: publishes keys on 127.0.0.1, and signs whatever a test wants."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, Self

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

from tests.support.ports import ADDRESS

AUDIENCE = "https://edfi.example.org"
CLIENT = "district-sis"


@dataclass(frozen=True)
class SigningKey:
    """A private key with its id and algorithm."""

    private: Any
    kid: str
    algorithm: str

    def public(self, **members: Any) -> dict[str, Any]:
        """Return the key as it is published; members that are None are left out."""
        type_ = {"RS": RSAAlgorithm, "ES": ECAlgorithm, "Ed": OKPAlgorithm}[self.algorithm[:2]]
        whole = type_.to_jwk(self.private.public_key(), as_dict=True)
        whole |= {"kid": self.kid, "use": "sig", "alg": self.algorithm} | members
        return {name: value for name, value in whole.items() if value is not None}


@cache
def rsa_key(kid: str = "rsa") -> SigningKey:
    return SigningKey(rsa.generate_private_key(public_exponent=65537, key_size=2048), kid, "RS256")


@cache
def ec_key(kid: str = "ec") -> SigningKey:
    return SigningKey(ec.generate_private_key(ec.SECP256R1()), kid, "ES256")


@cache
def ed_key(kid: str = "ed") -> SigningKey:
    return SigningKey(ed25519.Ed25519PrivateKey.generate(), kid, "EdDSA")


Answer = Callable[[BaseHTTPRequestHandler], None]


@dataclass
class IdentityProvider:
    """`requests` are the paths that were requested. `answers` replace what is answered at a path."""

    published: Sequence[Mapping[str, Any]]
    answers: dict[str, Answer] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._server = ThreadingHTTPServer((ADDRESS, 0), _handler(self))
        self.issuer = f"http://{ADDRESS}:{self._server.server_port}"
        Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """From now on connections are refused."""
        self._server.shutdown()
        self._server.server_close()

    @property
    def fetches(self) -> int:
        """How often the keys were requested."""
        return self.requests.count("/jwks")

    def claims(self, **changes: Any) -> dict[str, Any]:
        """Return the claims of a good token; changes that are None leave a claim out."""
        now = int(time.time())
        claims = {"iss": self.issuer, "aud": AUDIENCE, "client_id": CLIENT, "iat": now, "exp": now + 600, **changes}
        return {name: value for name, value in claims.items() if value is not None}

    def token(self, key: SigningKey | None = None, header: Mapping[str, Any] | None = None, **changes: Any) -> str:
        key = key or ec_key()
        whole = {"kid": key.kid, "typ": "at+jwt", **(header or {})}
        whole = {name: value for name, value in whole.items() if value is not None or name == "typ"}
        return jwt.encode(self.claims(**changes), key.private, whole.pop("alg", key.algorithm), headers=whole)

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        self.requests.append(handler.path)
        if handler.path in self.answers:
            self.answers[handler.path](handler)
        elif handler.path == "/.well-known/openid-configuration":
            send_json(handler, {"issuer": self.issuer, "jwks_uri": f"{self.issuer}/jwks"})
        else:
            send_json(handler, {"keys": self.published})


def send_json(handler: BaseHTTPRequestHandler, content: Any) -> None:
    send(handler, json.dumps(content).encode())


def send(handler: BaseHTTPRequestHandler, body: bytes, status: int = 200, **headers: str) -> None:
    handler.send_response(status)
    for name, value in {"Content-Length": str(len(body)), **headers}.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(body)


def write_issuers(path: Path, *entries: Mapping[str, Any]) -> str:
    path.write_text(json.dumps(entries))
    return str(path)


def _handler(provider: IdentityProvider) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            provider.answer(self)

        def log_message(self, *_: object) -> None:
            pass

    return Handler
