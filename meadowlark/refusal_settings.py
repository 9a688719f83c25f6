"""Settings of the ledger of refusals."""

from typing import Any

from meadowlark.environment import Environment


def refusal_settings(env: Environment) -> dict[str, Any]:
    """Members of `EDFI_API`."""
    is_on = env.bool(
        "MEADOWLARK_REFUSALS", default=True, meaning="refused writes are recorded in the ledger of refusals"
    )
    return {
        "WRITE_RECORDER": "edfi_api.refusals.recorder.Recorder" if is_on else "",
        "REFUSAL_DAYS": env.int(
            "MEADOWLARK_REFUSAL_DAYS",
            default=30,
            meaning="for how many days after its last occurrence a refusal is kept, open or not",
        ),
        "REFUSAL_KEYS": env.choice(
            "MEADOWLARK_REFUSAL_KEYS",
            choices=["full", "hashed"],
            default="full",
            meaning="`full`, or `hashed` for a ledger without natural keys and values quoted in messages, which may "
            "identify persons",
        ),
        "REFUSALS_PER_CLIENT": env.int(
            "MEADOWLARK_REFUSALS_PER_CLIENT",
            default=100_000,
            meaning="open entries of a client; of more refusals only the number is recorded",
        ),
        "REFUSALS_PER_SECOND": env.int(
            "MEADOWLARK_REFUSALS_PER_SECOND",
            default=10,
            meaning="different refused requests of a client for one cause that a server process records singly each "
            "time it writes to the ledger, once a second; of more only the number is recorded",
        ),
    }
