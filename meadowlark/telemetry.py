"""Traces for OpenTelemetry, where the environment names a collector: OTEL_EXPORTER_OTLP_ENDPOINT.

The libraries are those of requirements.telemetry.txt, which are not installed otherwise; their own variables (OTEL_...)
say what the service is called and how much of it is traced.
"""

from wsgiref.types import WSGIApplication

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.instrumentation.wsgi import OpenTelemetryMiddleware
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor


def traced(application: WSGIApplication) -> WSGIApplication:
    """The application with a span around each request; a client's trace is continued."""
    return OpenTelemetryMiddleware(application)


def export_spans() -> None:
    """Sends spans from now on, from a thread; so each process calls it for itself, after it was forked."""
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
