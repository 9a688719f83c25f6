"""`/submissions/v1/runs` and `/report`: what the client that requests them has done, and no other."""

from datetime import datetime
from typing import Any

import orjson
from django.http.response import HttpResponseBase
from rest_framework.request import Request

from edfi_api.common.conf import api_settings
from edfi_api.core.queries.exceptions import UnknownQueryField
from edfi_api.core.queries.listing import TIMESTAMP, Field, FieldType, read_filters
from edfi_api.core.security.models import ApiClient
from edfi_api.core.security.requests.data_stores import data_store_in_address
from edfi_api.features.runs.report import report_of, runs_of
from edfi_api.web.problem_details.http_exceptions import ResourceNotFound
from edfi_api.web.viewsets.edfi_view import EdFiRequest, EdFiView
from edfi_api.web.viewsets.responses import JsonTextResponse


def _time(text: str) -> datetime:
    return datetime.fromisoformat(TIMESTAMP.read(text.replace(" ", "+")))


_TIME = FieldType(_time, "{name} must be a time such as 2026-11-22T02:10:09Z.")
_TIMES = (Field("since", "", _TIME), Field("until", "", _TIME))


class RunView(EdFiView):
    """The report of a run; its counts are in the admin database. An address with a context is of its data store."""

    detail = None
    data_store: int | None = None

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if not api_settings.RUN_DAYS:
            raise ResourceNotFound

    def choose_database(self, request: Any) -> None:
        self.data_store = data_store_in_address(request.user, request)


class RunsView(RunView):
    """The last runs."""

    def get(self, request: EdFiRequest) -> HttpResponseBase:
        for name in request.query_params:
            raise UnknownQueryField(name)
        found = runs_of(request.user.key, self.data_store)
        return JsonTextResponse(orjson.dumps([run.members for run in found]))


class ReportView(RunView):
    """The report of the last run, or of the time between `since` and `until`."""

    def get(self, request: EdFiRequest) -> HttpResponseBase:
        times = {each.field.name: each.value for each in read_filters(_TIMES, request.GET).or_failed_validation()}
        client = ApiClient.objects.select_related("application__claim_set").get(pk=request.user.row_id)
        return JsonTextResponse(orjson.dumps(report_of(client, data_store=self.data_store, **times)))
