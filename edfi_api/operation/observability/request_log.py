"""The request log: a line for each request that was refused or failed, or with LOG_REQUESTS for every request.

A line has the resource, but no path, query or body, which contain names and ids of persons.
"""

import logging

from django.http import HttpRequest, HttpResponse

from edfi_api.conf import api_settings
from edfi_api.logs import log_lines

_log = logging.getLogger("meadowlark.requests")


def log_request(request: HttpRequest, response: HttpResponse, method: str, route: str, seconds: float) -> None:
    """`method` and `route` are the labels of the metrics. `request.client_key`, `response.problem_type` and
    `response.log_facts`, what else is known of the problem, are set where they are known."""
    status = response.status_code
    if status < 400 and not api_settings.LOG_REQUESTS:
        return
    facts = {
        "status": status,
        "problem": getattr(response, "problem_type", None),
        "method": method,
        "resource": route,
        "client": getattr(request, "client_key", None),
        "tenant": getattr(request, "tenant", None),
        "store": getattr(request, "data_store", None),
        "milliseconds": round(seconds * 1000, 1),
        **getattr(response, "log_facts", {}),
    }
    log_lines.write(_log, logging.ERROR if status >= 500 else logging.INFO, facts)
