"""The walk of meadowlark/docs/operate/management-api.md, step by step, as a program does it that knows only HTTP."""

import re
from pathlib import Path
from typing import Any

from tests.conftest import http
from tests.features.management_api.managing import Managing

PAGE = Path(__file__).parents[3] / "meadowlark/docs/operate/management-api.md"
STEP = re.compile(r"^(?P<method>[A-Z]+) (?P<path>\S+) -> (?P<status>\d+)(?P<names>[^\n]*)\n?(?P<body>.*)", re.DOTALL)


def steps() -> list[re.Match[str]]:
    text = PAGE.read_text().split("```walk\n")[1].split("```")[0]
    found = [STEP.match(each) for each in text.strip().split("\n\n")]
    assert all(found)
    return [each for each in found if each]


def test_the_walk_leads_from_registration_to_data(anonymous: Managing, configured) -> None:
    configured(MANAGEMENT_REGISTRATION=True)
    known: dict[str, str] = {}

    for step in steps():
        answer = _send(step, known)
        assert answer.status_code == int(step["status"]), (step[0], answer.content)
        for name in step["names"].split():
            known[name] = _found(answer, name)

    assert len(steps()) == 11


def _send(step: re.Match[str], known: dict[str, str]) -> Any:
    def filled(text: str) -> str:
        return re.sub(r"\{(\w+)\}", lambda name: known.get(name[1], name[0]), text).strip()

    path, body = filled(step["path"]), filled(step["body"])
    is_form = path.startswith("/connect")
    content_type = "application/x-www-form-urlencoded" if is_form else "application/json"
    headers = (
        {"HTTP_AUTHORIZATION": f"Bearer {known['access_token']}"} if "access_token" in known and not is_form else {}
    )
    url = path if path.startswith("/data") else f"/config{path}"
    return getattr(http(), step["method"].lower())(url, data=body or None, content_type=content_type, **headers)


def _found(answer: Any, name: str) -> str:
    if answer.headers.get("Location"):
        return str(answer.headers["Location"]).rpartition("/")[2]
    return str(answer.json()[name])
