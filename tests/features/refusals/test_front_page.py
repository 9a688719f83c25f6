"""The front page of the admin: the state of the server, and writes per hour."""

import json
import re
from datetime import timedelta
from pathlib import Path

from django.contrib.auth.models import Permission, User
from django.contrib.staticfiles import finders
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from edfi_api.features.changes.change_queries.models import ChangeConsumer, PurgeRun
from edfi_api.features.changes.change_stream.models import DeadLetter
from tests.conftest import ApiTestClient, new_token
from tests.support.admin_users import client_of
from tests.support.class_periods import PERIOD
from tests.support.factories import STUDENT


def front_page(client) -> str:
    response = client.get("/admin/")
    assert response.status_code == 200
    return response.content.decode()


def state(page: str) -> dict[str, str]:
    """Names and texts of the lines."""
    table = page.partition('id="status"')[2].partition("</table>")[0]
    rows = re.findall(r'<th scope="row">(.*?)</th>\s*<td>(.*?)</td>', table, re.DOTALL)
    return {re.sub(r"<[^>]+>", "", name): text for name, text in rows}


def test_the_state_is_told_in_one_table(steward, api, refused):
    api.post("/classPeriods", PERIOD)
    refused()
    DeadLetter.objects.create(
        handler="h", change_version=1, resource="r", natural_key="k", change="{}", error="e", attempts=1
    )
    ChangeConsumer.objects.create(name="lake", change_version=2**40)

    found = state(front_page(steward))

    assert found == {
        "Open refusals": "1",
        "Consumer lake": "up to date",
        "Dead letters": "1",
        "Last purge": "not yet due",
        "Last validation": "never",
    }


def test_a_purge_is_remembered(steward):
    call_command("purge_changes")
    page = front_page(steward)
    PurgeRun.objects.update(finished_at=timezone.now() - timedelta(days=3))
    late = front_page(steward)

    assert state(page)["Last purge"].endswith("minutes ago")
    assert state(late)["Last purge"].replace("\xa0", " ") == "3 days ago"
    assert late.count('class="needs-attention"') == page.count('class="needs-attention"') + 1


def test_writes_per_hour_and_vendor_are_drawn_from_our_own_server(steward, api, refused):
    api.post("/students", STUDENT)
    api.post("/classPeriods", PERIOD)
    refused()

    response = steward.get("/admin/")
    page = response.content.decode()

    data = json.loads(page.partition('id="writes-data" type="application/json">')[2].partition("</script>")[0])
    assert len(data["hours"]) == 48
    assert [(each["vendor"], sum(each["accepted"]), sum(each["refused"])) for each in data["vendors"]] == [
        ("tests", 1, 1)
    ]
    assert "script-src 'self'" in response["Content-Security-Policy"]
    assert "unsafe" not in response["Content-Security-Policy"]
    scripts = re.findall(r'<script src="/static/([^"]+)"', page)
    assert {"edfi_api/uplot/uPlot.iife.min.js", "edfi_api/activity_chart.js"} <= set(scripts)
    assert all(finders.find(script) for script in scripts)
    assert "MIT" in Path(finders.find("edfi_api/uplot/LICENSE")).read_text()


def test_many_vendors_are_drawn_as_others(steward, api, refused):
    for number in range(8):
        ApiTestClient(new_token(f"vendor {number}")).post("/students", STUDENT)
    refused()

    page = front_page(steward)

    data = json.loads(page.partition('id="writes-data" type="application/json">')[2].partition("</script>")[0])
    assert [each["vendor"] for each in data["vendors"]] == [*(f"vendor {number}" for number in range(6)), "others"]
    assert sum(data["vendors"][-1]["accepted"]) == 2


def test_a_user_sees_what_the_permissions_allow(api):
    user = User.objects.create(username="reader", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename="view_deadletter"))

    page = front_page(client_of(user))

    assert list(state(page)) == ["Dead letters"]
    assert "writes-chart" not in page


def test_the_page_takes_a_bounded_number_of_queries(steward, api, refused):
    api.post("/students", STUDENT)
    refused()
    front_page(steward)

    with CaptureQueriesContext(connection) as queries:
        front_page(steward)

    assert len(queries) <= 16, [query["sql"] for query in queries]
