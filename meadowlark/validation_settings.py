"""Settings of validation: rules over stored documents."""

from typing import Any

from meadowlark.environment import Environment


def validation_settings(env: Environment) -> dict[str, Any]:
    """The part of EDFI_API about validation."""
    return {
        "RULES": tuple(
            env.list(
                "MEADOWLARK_RULES",
                default=[],
                meaning="folders with rules of validation, separated by commas",
            )
        ),
        "BUNDLED_RULES": env.bool(
            "MEADOWLARK_BUNDLED_RULES", default=True, meaning="the rules that come with Meadowlark are run, too"
        ),
        "RULE_ROLE": env.str(
            "MEADOWLARK_RULE_ROLE",
            default="",
            shown="none",
            meaning="role of PostgreSQL under which queries of rules run; it needs SELECT on what they read, and the "
            "user of the database has to be a member of it",
        ),
        "VALIDATION_SECONDS": env.int(
            "MEADOWLARK_VALIDATION_SECONDS",
            default=3600,
            meaning="seconds after which `run_validation` stops",
        ),
        "VALIDATION_REQUESTS": env.bool(
            "MEADOWLARK_VALIDATION_REQUESTS",
            default=False,
            meaning="clients may request runs of rules, which `run_validation --follow` runs",
        ),
        "VALIDATION_EXTENSION": env.bool(
            "MEADOWLARK_VALIDATION_EXTENSION",
            default=False,
            meaning="rules, runs and results are also served at /data/ed-fi-x-validations",
        ),
        "VALIDATION_DAYS": env.int(
            "MEADOWLARK_VALIDATION_DAYS",
            default=400,
            meaning="for how many days `purge_validation` leaves resolved results and earlier runs",
        ),
    }
