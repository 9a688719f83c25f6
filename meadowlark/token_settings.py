"""Settings of bearer tokens: those of this server, and those of other identity providers."""

from typing import Any

from meadowlark.environment import Environment


def token_settings(env: Environment) -> dict[str, Any]:
    """Entries of `EDFI_API`."""
    return {
        "TOKEN_CACHE_SECONDS": env.int(
            "MEADOWLARK_TOKEN_CACHE_SECONDS",
            default=10,
            meaning="how long a token is accepted without another look-up: a revoked token, a disabled client and a "
            "changed claim set are noticed within this time",
        ),
        "TOKENS_PER_MINUTE": env.int(
            "MEADOWLARK_TOKENS_PER_MINUTE", default=60, meaning="tokens that a client may get; `0` for any number"
        ),
        "TOKEN_REQUESTS_PER_MINUTE": env.int(
            "MEADOWLARK_TOKEN_REQUESTS_PER_MINUTE",
            default=600,
            meaning="requests for tokens that an IP address may send, successful or not; `0` for any number",
        ),
        "OIDC_ISSUERS": env.str(
            "MEADOWLARK_OIDC_ISSUERS",
            default="",
            meaning="a JSON file with the [identity providers](meadowlark/docs/operate/identity-providers.md) whose "
            "access tokens are accepted, beside those of this server",
        ),
    }
