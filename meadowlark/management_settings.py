"""Settings of the management API."""

from typing import Any

from meadowlark.environment import Environment


def management_settings(env: Environment) -> dict[str, Any]:
    """Entries of `EDFI_API`."""
    return {
        "MANAGEMENT_PATH": env.str(
            "MEADOWLARK_MANAGEMENT_PATH",
            default="",
            meaning="where the [management API](meadowlark/docs/operate/management-api.md) is, such as `config`; "
            "without it there is none",
        ).strip("/"),
        "MANAGEMENT_ONLY": env.bool(
            "MEADOWLARK_MANAGEMENT_ONLY",
            default=False,
            meaning="this server has the management API and nothing else, at its root too: for a port of its own that "
            "only the internal network reaches",
        ),
        "MANAGEMENT_REGISTRATION": env.bool(
            "MEADOWLARK_MANAGEMENT_REGISTRATION",
            default=False,
            meaning="every caller of the management API can register a client with full access",
        ),
        "MANAGEMENT_REQUESTS_PER_MINUTE": env.int(
            "MEADOWLARK_MANAGEMENT_REQUESTS_PER_MINUTE",
            default=600,
            meaning="requests of one management client; `0` for any number",
        ),
        "MANAGEMENT_VERSION": env.choice(
            "MEADOWLARK_MANAGEMENT_VERSION",
            choices=["v3", "v2"],
            default="v3",
            meaning="the version that the management API says it has; `v2` for programs that know only Admin API 2",
        ),
        "APPLICATION_RESET": env.bool(
            "MEADOWLARK_APPLICATION_RESET",
            default=True,
            meaning="the management API resets the secret of an application's first client",
        ),
        "CLAIMS_UPLOAD": env.bool(
            "MEADOWLARK_CLAIMS_UPLOAD",
            default=False,
            meaning="the management API replaces all claims and claim sets at once",
        ),
        "UNIFORM_CLIENT_ERRORS": env.bool(
            "MEADOWLARK_UNIFORM_CLIENT_ERRORS",
            default=True,
            meaning="the management API answers an unknown client and a wrong secret alike; `false` as Ed-Fi's "
            "Configuration Service, which reveals which clients exist",
        ),
    }
