"""An upper bound for reads from the database: a Django view that authenticates, runs one statement, and returns the
stored body, without authorization, links, middleware and REST framework.
"""

import os
from uuid import UUID

from django.core.wsgi import get_wsgi_application
from django.db import DEFAULT_DB_ALIAS
from django.http import HttpRequest, HttpResponse
from django.urls import path

os.environ["DJANGO_SETTINGS_MODULE"] = "tests.tools.benchmarks.lean_settings"
application = get_wsgi_application()

from edfi_api.core.security.requests.authentication import bearer_token, client_of_token  # noqa: E402  Django is set up by now
from edfi_api.core.storage.driver.execution import execute  # noqa: E402
from edfi_api.core.storage.driver.sql import Sql  # noqa: E402

_BODY = Sql("SELECT body FROM document WHERE document_uuid = %(document_uuid)s")


def document(request: HttpRequest, rest: str, document_uuid: UUID) -> HttpResponse:
    """The stored body; 401 without a valid token, 404 if there is no such document."""
    if client_of_token(bearer_token(request.META.get("HTTP_AUTHORIZATION", ""))) is None:
        return HttpResponse(status=401)
    found = execute(_BODY.with_values(document_uuid=document_uuid), DEFAULT_DB_ALIAS)
    if not found:
        return HttpResponse(status=404)
    [[body]] = found
    return HttpResponse(body, content_type="application/json", headers={"Content-Length": str(len(body))})


urlpatterns = [path("<path:rest>/<uuid:document_uuid>", document)]
