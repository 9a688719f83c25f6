"""How many examples a test of a property draws: few in the gate, EXAMPLES of the environment in `make test-long`."""

import os


def examples(in_the_gate: int) -> int:
    """The number for Hypothesis."""
    return int(os.environ.get("EXAMPLES", in_the_gate))
