"""gunicorn reads its settings, with the worker, before it loads the application."""

import os
import subprocess
import sys
from pathlib import Path


def test_the_settings_are_read_before_the_apps_of_django_are_loaded(tmp_path: Path) -> None:
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "meadowlark.settings", "MEADOWLARK_HOME": str(tmp_path)}

    done = subprocess.run(
        [sys.executable, "-c", "import meadowlark.serving.gunicorn_conf"],
        cwd=Path(__file__).parents[3],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")
