"""OpenTelemetry traces, if OTEL_EXPORTER_OTLP_ENDPOINT names a collector.

Needs the optional requirements/telemetry.txt. The libraries read their own variables (OTEL_...), such as the name of
the service and the sampling rate.
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
    """The application with a span for each request, which continues the client's trace.

    The instrumentation gets no query string, since queries contain names and birth dates. So no span can contain one,
    whatever attribute a version of OpenTelemetry's conventions uses for it.
    """

    def with_query(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        return application(environ[_WHOLE], start_response)

    instrumented = OpenTelemetryMiddleware(with_query, tracer_provider=provider)

    def without_query(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        path = environ["PATH_INFO"]
        seen = environ | {"QUERY_STRING": "", "RAW_URI": path, "REQUEST_URI": path, _WHOLE: environ}
        chunks: Iterable[bytes] = instrumented(seen, start_response)
        return chunks

    return without_query


def export_spans() -> None:
    """Start exporting spans from a background thread. To be called in each process after the fork."""
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
