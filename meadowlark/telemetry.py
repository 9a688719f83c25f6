"""Traces for OpenTelemetry, where the environment names a collector: OTEL_EXPORTER_OTLP_ENDPOINT.

The libraries are those of requirements/telemetry.txt, which are not installed otherwise; their own variables (OTEL_...)
say what the service is called and how much of it is traced.
"""

from collections.abc import Iterable
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.instrumentation.wsgi import OpenTelemetryMiddleware
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

_WHOLE = "meadowlark.environ"


def traced(application: WSGIApplication, provider: trace.TracerProvider | None = None) -> WSGIApplication:
    """The application with a span around each request; a client's trace is continued.

    The instrumentation sees no query string, since queries have names and birth dates: so none can be in a span, by
    whichever name a version of OpenTelemetry's conventions has for it.
    """

    def with_query(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        return application(environ[_WHOLE], start_response)

    instrumented = OpenTelemetryMiddleware(with_query, tracer_provider=provider)

    def without_query(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        path = environ["PATH_INFO"]
        seen = environ | {"QUERY_STRING": "", "RAW_URI": path, "REQUEST_URI": path, _WHOLE: environ}
        return instrumented(seen, start_response)

    return without_query


def export_spans() -> None:
    """Sends spans from now on, from a thread; so each process calls it for itself, after it was forked."""
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
