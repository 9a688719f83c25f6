"""A real OpenID provider on this machine: npm's oidc-provider, run by Node.

    with running_provider(folder, Settings(keys=[rsa_key("one")], clients=[machine("district-sis")])) as provider:
        token = provider.token("district-sis")

`npm ci` installs what package-lock.json names into a folder of the cache, once. Tests are skipped where there is no
Node, or the packages cannot be downloaded.
"""

import contextlib
import fcntl
import hashlib
import json
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from django.conf import settings
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

from tests.support.ports import ADDRESS, free_port

_HERE = Path(__file__).parent
_SECRET = "of-tests"

Jwk = dict[str, Any]


@dataclass(frozen=True)
class Settings:
    """What a provider is started with.

    `clients` are metadata of clients (RFC 7591), as `machine` and `web_application` make them. `claims_of_clients` are
    further claims of their access tokens; `people` have their claims by name of login, with any password.
    """

    keys: Sequence[Jwk]
    clients: Sequence[Mapping[str, Any]]
    claims_of_clients: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    people: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    audience: str = "https://edfi.example.org"
    algorithm: str = "RS256"
    resource_scope: str = ""
    token_seconds: int = 600
    port: int = field(default_factory=free_port)

    @property
    def issuer(self) -> str:
        return f"http://{ADDRESS}:{self.port}"


class Provider:
    """A provider that can be stopped, and started again with other settings at the same address."""

    def __init__(self, folder: Path, provided: Settings) -> None:
        self._folder = folder
        self.settings = provided
        self._process: subprocess.Popen[str] | None = None

    @property
    def issuer(self) -> str:
        return self.settings.issuer

    def start(self) -> None:
        node, packages = _node(), _packages()
        self._folder.mkdir(parents=True, exist_ok=True)
        # Node looks for packages beside the program.
        program = shutil.copy(_HERE / "provider.mjs", self._folder)
        if not (self._folder / "node_modules").exists():
            (self._folder / "node_modules").symlink_to(packages / "node_modules")
        written = self._folder / "settings.json"
        written.write_text(json.dumps(_as_node_reads(self.settings)))
        with (self._folder / "provider.log").open("a") as log:
            self._process = subprocess.Popen(
                [node, program, str(written)], stdout=subprocess.PIPE, stderr=log, text=True
            )
        assert self._process.stdout is not None
        # The line, or the end of a process that failed.
        if self._process.stdout.readline().strip() != "listening":
            raise RuntimeError(f"The provider did not start: {(self._folder / 'provider.log').read_text()}")

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.communicate()
            self._process = None

    def restart(self, **changes: Any) -> None:
        """Restart with changed settings, as after a rotation of `keys`."""
        self.stop()
        self.settings = replace(self.settings, **changes)
        self.start()

    def token(self, client_id: str, **form: str) -> str:
        """An access token by client credentials."""
        request = {"grant_type": "client_credentials", **form}
        response = httpx.post(f"{self.issuer}/token", data=request, auth=(client_id, _SECRET))
        assert response.status_code == 200, response.text
        token: str = response.json()["access_token"]
        return token


@contextlib.contextmanager
def running_provider(folder: Path, provided: Settings) -> Iterator[Provider]:
    """A started provider, which keeps its settings and log in the folder."""
    provider = Provider(folder, provided)
    try:
        provider.start()
        yield provider
    finally:
        provider.stop()


def machine(client_id: str) -> dict[str, Any]:
    """A client that gets tokens for itself."""
    return {
        "client_id": client_id,
        "client_secret": _SECRET,
        "grant_types": ["client_credentials"],
        "response_types": [],
        "redirect_uris": [],
    }


def web_application(client_id: str, *redirect_uris: str, **metadata: Any) -> dict[str, Any]:
    """A client that people log in to by authorization code."""
    return {
        "client_id": client_id,
        "client_secret": _SECRET,
        "grant_types": ["authorization_code"],
        "response_types": ["code"],
        "redirect_uris": redirect_uris,
        "scope": "openid profile email groups",
        **metadata,
    }


def rsa_key(kid: str) -> Jwk:
    """A new private key, as JWK."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    return RSAAlgorithm.to_jwk(key, as_dict=True) | {"kid": kid, "use": "sig", "alg": "RS256"}


def ec_key(kid: str) -> Jwk:
    """Return a key of an elliptic curve."""
    key = ec.generate_private_key(ec.SECP256R1())
    return ECAlgorithm.to_jwk(key, as_dict=True) | {"kid": kid, "use": "sig", "alg": "ES256"}


def _as_node_reads(provided: Settings) -> dict[str, Any]:
    return vars(provided) | {"issuer": provided.issuer, "jwks": {"keys": provided.keys}}


def _node() -> str:
    node = shutil.which("node")
    if node is None or shutil.which("npm") is None:
        pytest.skip("needs the programs node (20 or newer) and npm")
    return node


def _packages() -> Path:
    """The folder with `node_modules`; made by the first process that needs it."""
    lock_file = _HERE / "package-lock.json"
    version = hashlib.sha256(lock_file.read_bytes()).hexdigest()[:16]
    folder: Path = settings.HOME / "cache" / f"oidc-provider-{version}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / "oidc-provider.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            unfinished = folder.with_suffix(".unfinished")
            shutil.rmtree(unfinished, ignore_errors=True)
            unfinished.mkdir()
            for name in ("package.json", "package-lock.json"):
                shutil.copy(_HERE / name, unfinished)
            _install(unfinished)
            unfinished.rename(folder)
    return folder


def _install(folder: Path) -> None:
    command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
    installed = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if installed.returncode:
        pytest.skip(f"npm cannot install oidc-provider: {installed.stderr.strip().splitlines()[-1]}")
