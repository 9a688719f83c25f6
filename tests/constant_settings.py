"""The server's settings, for the constant view: an address map of its own, and no middleware."""

from meadowlark.settings import *  # noqa: F403  that is what is meant

ROOT_URLCONF = "tests.constant_application"
MIDDLEWARE = []
