"""The front page of the admin: the state of the server."""

import re
from datetime import timedelta

from django.contrib.auth.models import Permission, User
from django.core.management import call_command
from django.utils import timezone

from edfi_api.features.changes.change_queries.models import ChangeConsumer, PurgeRun
from edfi_api.features.changes.change_stream.models import DeadLetter
from tests.support.admin_users import client_of
from tests.support.class_periods import PERIOD


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

    assert found.pop("Versions").startswith("Meadowlark 1.")
    assert found.pop("Size of the database").endswith(" MB")
    assert found.pop("Connections").endswith(" of 100")
    assert found == {
        "Open refusals": "1",
        "Writes, 24 hours": "0 accepted, 1 refused",
        "Backup": "PostgreSQL archives no WAL; a dump leaves no trace here",
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


def test_a_user_sees_what_the_permissions_allow(api):
    user = User.objects.create(username="reader", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename="view_deadletter"))

    page = front_page(client_of(user))

    assert list(state(page)) == ["Dead letters"]
    assert "How complete" not in page
    assert "refused" not in page
