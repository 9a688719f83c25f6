"""The WSGI application. Everything is compiled before the first request, so that forked workers share it."""

import os
from importlib import import_module

from django.conf import settings
from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "meadowlark.settings")

application = get_wsgi_application()

import_module(settings.ROOT_URLCONF)
