"""How the management API numbers and names actions and strategies, and its errors about resource claims of bodies."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from edfi_api.security.actions import Action
from edfi_api.security.claim_set_exchange import InvalidResourceClaims, MalformedResourceClaims
from edfi_api.security.policies.table import STRATEGIES

from . import problems

ACTION_IDS: Mapping[str, int] = {action.value: number for number, action in enumerate(Action, start=1)}
STRATEGY_IDS: Mapping[str, int] = {name: number for number, name in enumerate(STRATEGIES, start=1)}
_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def display_name(strategy: str) -> str:
    """`Namespace Based` of `NamespaceBased`."""
    return _WORD.sub(" ", strategy)


@contextmanager
def refused_if_invalid() -> Iterator[None]:
    """Resource claims of a body that cannot be imported raise a Refusal."""
    try:
        yield
    except MalformedResourceClaims:
        raise problems.invalid_json() from None
    except InvalidResourceClaims as error:
        raise problems.invalid_data({"ResourceClaims": error.findings}) from None
