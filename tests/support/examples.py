"""How much of a test runs: few examples in the gate, and more by the environment and by the chosen marker."""

import os

import pytest


def examples(in_the_gate: int) -> int:
    """Return how many examples a test of a property draws: EXAMPLES of the environment, or this number."""
    return int(os.environ.get("EXAMPLES", in_the_gate))


def is_chosen(marker: str, config: pytest.Config) -> bool:
    """Return whether this run is for the tests with this marker.

    Tests that are parametrized with everything of a kind ask it, because collecting their parameters takes as long as
    compiling every data standard.
    """
    return bool(config.getoption("markexpr") == marker)
