"""The server's settings with the constant view as URL map, without middleware."""

from meadowlark.settings import *  # noqa: F403  all of them

ROOT_URLCONF = "tests.support.constant_application"
MIDDLEWARE = []
