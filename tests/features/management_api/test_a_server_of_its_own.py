"""A server that has the management API and nothing else. Settings are read once, so it is another process."""

import json
import os
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).parents[3]
PROGRAM = """
import json
import django
django.setup()
from django.test import Client
client = Client(raise_request_exception=False)
paths = ["/", "/health", "/config/", "/config/health", "/config/nothing", "/data/ed-fi/students", "/admin/", "/docs"]
print(json.dumps({path: client.get(path, headers={"Host": "localhost"}).status_code for path in paths}))
"""


def test_nothing_but_the_management_api_is_served() -> None:
    settings = {"MEADOWLARK_MANAGEMENT_ONLY": "true", "MEADOWLARK_MANAGEMENT_PATH": "config"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=TOP,
        env=os.environ | {"DJANGO_SETTINGS_MODULE": "meadowlark.settings"} | settings,
        capture_output=True,
        text=True,
        check=True,
    )

    assert json.loads(done.stdout.splitlines()[-1]) == {
        "/": 200,
        "/health": 200,
        "/config/": 200,
        "/config/health": 200,
        "/config/nothing": 404,
        "/data/ed-fi/students": 404,
        "/admin/": 404,
        "/docs": 404,
    }
