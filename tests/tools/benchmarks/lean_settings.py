"""The server's settings with the lean view as URL map, without middleware."""

from meadowlark.settings import *  # noqa: F403  all of them

ROOT_URLCONF = "tests.tools.benchmarks.lean_application"
MIDDLEWARE = []
