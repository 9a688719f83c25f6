"""docker/monitoring/dashboard.json, against the types that Grafana Labs publish of their schemas."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.tools.image.images import TOP

pytestmark = pytest.mark.compose

_REASON = "make test-compose installs the types of dashboards"
dashboard = pytest.importorskip("grafana_foundation_sdk.models.dashboard", reason=_REASON)
encoder = pytest.importorskip("grafana_foundation_sdk.cog.encoder", reason=_REASON)
plugins = pytest.importorskip("grafana_foundation_sdk.cog.plugins", reason=_REASON)


def test_every_member_of_the_dashboard_is_one_of_grafanas() -> None:
    plugins.register_default_plugins()
    written = json.loads((TOP / "docker/monitoring/dashboard.json").read_text())

    read = json.loads(encoder.JSONEncoder().encode(dashboard.Dashboard.from_json(written)))

    assert list(_lost(written, read)) == []


def _lost(written: Any, read: Any, path: str = "") -> Iterator[str]:
    """Paths of members and values that the types do not have."""
    if isinstance(written, dict) and isinstance(read, dict):
        for name, value in written.items():
            yield from _lost(value, read.get(name), f"{path}/{name}")
    elif isinstance(written, list) and isinstance(read, list) and len(written) == len(read):
        for number, (one, other) in enumerate(zip(written, read, strict=True)):
            yield from _lost(one, other, f"{path}/{number}")
    elif written != read:
        yield path
