"""The log as operators see it."""

import json
import logging
import logging.config
from io import StringIO

from django.conf import settings


class Log:
    """Captured JSON lines, formatted by the settings."""

    def __init__(self) -> None:
        self._stream = StringIO()
        config = logging.config.DictConfigurator(
            {
                **settings.LOGGING,
                "handlers": {
                    "tests": {
                        "class": "logging.StreamHandler",
                        "stream": self._stream,
                        "formatter": "json",
                        "filters": ["correlation_id"],
                    }
                },
                "root": {},
                "loggers": {},
            }
        )
        config.configure()
        self.handler = config.config["handlers"]["tests"]

    @property
    def text(self) -> str:
        return self._stream.getvalue()

    def of(self, logger: str) -> list[dict[str, object]]:
        lines = (json.loads(line) for line in self.text.splitlines())
        return [line for line in lines if line["logger"] == logger]

    @property
    def audit(self) -> list[dict[str, object]]:
        return self.of("meadowlark.audit")

    @property
    def requests(self) -> list[dict[str, object]]:
        return self.of("meadowlark.requests")
