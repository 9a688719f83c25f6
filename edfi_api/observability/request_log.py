"""The log of requests: a line for each that was refused or failed, and for every one where that is switched on.

A line has the resource that was asked for, and no path, query or body: these have the names and ids of persons.
"""

import logging

from django.http import HttpRequest, HttpResponse

from edfi_api import log_lines
from edfi_api.conf import api_settings

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
        "milliseconds": round(seconds * 1000, 1),
        **getattr(response, "log_facts", {}),
    }
    log_lines.write(_log, logging.ERROR if status >= 500 else logging.INFO, facts)
