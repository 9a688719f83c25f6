"""The server's settings, for the lean view: an address map of its own, and no middleware."""

from meadowlark.settings import *  # noqa: F403  all of them

ROOT_URLCONF = "tests.benchmarks.lean_application"
MIDDLEWARE = []
