"""Requests with a token of an identity provider: the server of a benchmark accepts tokens that this process signs."""

import json
from dataclasses import replace
from pathlib import Path

from tests.core.security.federation.identity_provider import AUDIENCE, CLIENT, IdentityProvider, rsa_key
from tests.support.server_processes import Server, manage
from tests.tools.benchmarks.workloads import Workloads

_SECONDS = 24 * 3600


class Federation:
    """An identity provider, and the file with which a server accepts its tokens."""

    def __init__(self, provider: IdentityProvider, folder: Path) -> None:
        self._provider = provider
        file = folder / "issuers.json"
        entry = {"issuer": provider.issuer, "audience": AUDIENCE, "max_lifetime": _SECONDS}
        file.write_text(json.dumps([entry]))
        self.variables = {"MEADOWLARK_OIDC_ISSUERS": str(file)}

    def workloads(self, workloads: Workloads, server: Server, home: Path) -> Workloads:
        """Requests for the same documents, from a client with the same rights that comes with the provider's token."""
        options = ["Federated", "--claim-set", "EdFiSandbox", "--external", self._provider.issuer, CLIENT]
        environment = {"DATABASE_URL": server.database_url, "MEADOWLARK_HOME": str(home)} | self.variables
        manage(environment, "create_api_client", *options)
        now = self._provider.claims()["iat"]
        token = self._provider.token(rsa_key(), exp=now + _SECONDS)
        return workloads.sent_by(replace(server, token=token))


def identity_provider() -> IdentityProvider:
    """With a key of the usual kind."""
    return IdentityProvider(published=[rsa_key().public()])
