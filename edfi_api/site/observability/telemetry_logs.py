"""Log lines for OpenTelemetry, in addition to those on standard error."""

import logging
from collections.abc import Mapping
from typing import Any

from opentelemetry._logs import LoggerProvider as AnyLoggerProvider
from opentelemetry._logs import LogRecord
from opentelemetry.context import get_current
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.instrumentation.log_utils import std_to_otel
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from pythonjsonlogger.core import RESERVED_ATTRS

from edfi_api.common.logs.correlation import CorrelationIdFilter
from edfi_api.site.observability.telemetry import CORRELATION_ID

# Exporters log too, about collectors that do not answer: each line that is exported would cause another one.
_EXPORTERS = frozenset({"opentelemetry", "requests", "urllib3"})
# Django adds the request to lines about failures: its text has the query string.
_NOT_EXPORTED = frozenset({*RESERVED_ATTRS, "request", "correlation_id"})


class ExportedLog(logging.Handler):
    """Hands lines to a provider, which exports them in the background, with the span and the correlation id of their
    request and with the facts that JSON logs have."""

    def __init__(self, provider: AnyLoggerProvider) -> None:
        super().__init__()
        self._provider = provider
        self.addFilter(_is_of_no_exporter)
        self.addFilter(CorrelationIdFilter())

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._provider.get_logger(record.name).emit(
                LogRecord(
                    timestamp=int(record.created * 1_000_000_000),
                    context=get_current(),
                    severity_text=record.levelname,
                    severity_number=std_to_otel(record.levelno),
                    body=record.getMessage(),
                    attributes=_attributes(vars(record)),
                    exception=record.exc_info[1] if record.exc_info else None,
                )
            )
        except Exception:  # As handlers of the standard library do: no request fails because of its log line.
            self.handleError(record)


def export_logs() -> None:
    """Export the lines that this process writes from now on, from a background thread."""
    provider = LoggerProvider()
    provider.add_log_record_processor(BatchLogRecordProcessor(OTLPLogExporter()))
    logging.getLogger().addHandler(ExportedLog(provider))


def _is_of_no_exporter(record: logging.LogRecord) -> bool:
    return record.name.partition(".")[0] not in _EXPORTERS


def _attributes(fields: Mapping[str, Any]) -> dict[str, str | bool | int | float]:
    attributes = {CORRELATION_ID: fields["correlation_id"]}
    for name, fact in fields.items():
        if name not in _NOT_EXPORTED and fact is not None:
            attributes[name] = fact if isinstance(fact, str | bool | int | float) else str(fact)
    return attributes
