"""Service units of operators name the module with gunicorn's settings, so its former name still works."""

import subprocess
import sys


def test_the_former_name_of_the_settings_gives_the_same_settings() -> None:
    former, present = _settings("meadowlark.gunicorn_conf"), _settings("meadowlark.serving.gunicorn_conf")

    assert former["worker_class"] == "<EngineWorker()>"
    assert former["pre_fork"] == "<pre_fork()>"
    assert former == present


def _settings(module: str) -> dict[str, str]:
    """As gunicorn resolves them."""
    options = ["--print-config", "--config", f"python:{module}", "wsgiref.simple_server:demo_app"]
    printed = subprocess.run([sys.executable, "-m", "gunicorn", *options], check=True, capture_output=True, text=True)
    pairs = [line.partition("=")[::2] for line in printed.stdout.splitlines()]
    return {name.strip(): value.strip() for name, value in pairs if name.strip() != "config"}
