"""An upper bound for reads: a Django view that returns a constant, without middleware, database or REST framework.

Served by gunicorn and Django with the settings of the server, so that the difference is the cost of Meadowlark's code.
"""

import os

from django.core.wsgi import get_wsgi_application
from django.http import HttpRequest, HttpResponse
from django.urls import path

# As long as a student school association with its links.
_ANSWER = b'{"text":"' + b"x" * 700 + b'"}'


def constant(request: HttpRequest, rest: str) -> HttpResponse:
    """Return the same answer to every request."""
    return HttpResponse(_ANSWER, content_type="application/json", headers={"Content-Length": str(len(_ANSWER))})


urlpatterns = [path("<path:rest>", constant)]

os.environ["DJANGO_SETTINGS_MODULE"] = "tests.support.constant_settings"
application = get_wsgi_application()
