"""OpenTelemetry: traces, and on request logs and metrics, if OTEL_EXPORTER_OTLP_ENDPOINT names a collector.

Needs the optional requirements/telemetry.lock. The libraries read their own variables (OTEL_...), such as the name of
the service and the sampling rate.
"""

from collections.abc import Callable, Collection, Iterable
from importlib import import_module
from typing import Any
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.instrumentation.wsgi import OpenTelemetryMiddleware
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from edfi_api.common.conf import api_settings
from edfi_api.core.storage.driver import execution
from edfi_api.core.storage.driver.prepared_statements import BoundStatement

CORRELATION_ID = "meadowlark.correlation_id"

_WHOLE = "meadowlark.environ"
# Whole statements of pages with many filters are long; their beginning says what they are.
_LONGEST_STATEMENT = 2000


def traced(application: WSGIApplication, provider: trace.TracerProvider | None = None) -> WSGIApplication:
    """The application with a span for each request, which continues the client's trace and has the correlation id.

    The instrumentation gets no query string, since queries contain names and birth dates. So no span can contain one,
    whatever attribute a version of OpenTelemetry's conventions uses for it.
    """

    def with_query(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        return application(environ[_WHOLE], start_response)

    instrumented = OpenTelemetryMiddleware(with_query, response_hook=_add_correlation_id, tracer_provider=provider)

    def without_query(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        path = environ["PATH_INFO"]
        seen = environ | {"QUERY_STRING": "", "RAW_URI": path, "REQUEST_URI": path, _WHOLE: environ}
        answer: Iterable[bytes] = instrumented(seen, start_response)
        return answer

    return without_query


def _add_correlation_id(
    span: trace.Span, environ: WSGIEnvironment, status: str, headers: list[tuple[str, str]]
) -> None:
    """The middleware has put it into the headers of the answer."""
    for name, value in headers:
        if name.lower() == api_settings.CORRELATION_HEADER.lower():
            span.set_attribute(CORRELATION_ID, value)


def trace_statements(provider: trace.TracerProvider | None = None) -> None:
    """Make each statement of a request from now on a span, with its text but without the values of its parameters.

    Most statements bypass Django's cursors, so those of the driver are wrapped as well.
    """
    tracer = trace.get_tracer(__name__, tracer_provider=provider)

    def around_driver(run: Callable[..., Any]) -> Callable[..., Any]:
        def traced_run(statement: BoundStatement, *arguments: Any) -> Any:
            with _statement_span(tracer, statement.text):
                return run(statement, *arguments)

        return traced_run

    def around_cursor(execute: Callable[..., Any], statement: Any, *arguments: Any) -> Any:
        with _statement_span(tracer, str(statement)):
            return execute(statement, *arguments)

    def wrap_connection(connection: BaseDatabaseWrapper, **_: object) -> None:
        if around_cursor not in connection.execute_wrappers:
            connection.execute_wrappers.append(around_cursor)

    for name in ("run", "run_unprepared"):
        setattr(execution, name, around_driver(getattr(execution, name)))
    connection_created.connect(wrap_connection, weak=False)
    for connection in connections.all(initialized_only=True):
        wrap_connection(connection)


def _statement_span(tracer: trace.Tracer, statement: str) -> Any:
    text = statement.strip()
    return tracer.start_as_current_span(
        text.partition(" ")[0].partition("\n")[0].upper() or "SQL",
        kind=trace.SpanKind.CLIENT,
        attributes={"db.system.name": "postgresql", "db.query.text": text[:_LONGEST_STATEMENT]},
        record_exception=False,  # Its text may quote values.
    )


def export(signals: Collection[str], seconds_between_metrics: float) -> None:
    """Export these signals (traces, logs, metrics) from background threads. Call it in each process after the fork."""
    if "traces" in signals:
        _export_spans()
    if "logs" in signals:
        import_module("edfi_api.site.observability.telemetry_logs").export_logs()
    if "metrics" in signals:
        import_module("edfi_api.site.observability.telemetry_metrics").export_metrics(seconds_between_metrics)


def _export_spans() -> None:
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    trace_statements()
