"""Permission classes in the settings of Django REST framework apply in addition to claim sets."""

import pytest
from rest_framework.permissions import BasePermission

from edfi_api.web.batch.views import BatchView
from edfi_api.web.viewsets.resource_viewset import ResourceViewSet
from tests.core.security.strategies.scenario import EO, Scenario
from tests.web.batch.batch_client import BatchClient


class NothingIsDeleted(BasePermission):
    message = "Documents of last year are kept."

    def has_permission(self, request, view):
        return view.action != "destroy"


@pytest.fixture
def scenario(api, documents):
    found = Scenario(api, documents)
    found.school(11)
    found.school(21)
    return found


def test_a_permission_class_of_the_settings_is_honoured(scenario, monkeypatch):
    path = scenario.calendar("A", 11)
    monkeypatch.setattr(ResourceViewSet, "permission_classes", [NothingIsDeleted])

    refusal = scenario.api.delete(path)
    assert (refusal.status_code, refusal.json()["type"]) == (403, "urn:ed-fi:api:security:authorization")
    assert refusal.json()["errors"] == ["Documents of last year are kept."]
    assert scenario.api.get(path).status_code == 200


def test_it_is_honoured_for_each_operation_of_a_batch(scenario, monkeypatch):
    paths = [scenario.calendar(code, 11) for code in "AB"]
    operations = [{"op": "delete", "resource": "/ed-fi/calendars", "id": path.rpartition("/")[2]} for path in paths]
    monkeypatch.setattr(BatchView, "permission_classes", [NothingIsDeleted])

    results = BatchClient(scenario.api.token).independent(*operations)

    assert [result["status"] for result in results] == [403, 403]
    assert [scenario.api.get(path).status_code for path in paths] == [200, 200]


def test_claim_sets_apply_without_permission_classes(scenario, monkeypatch):
    own, other = scenario.calendar("A", 11), scenario.calendar("B", 21)
    client = scenario.client_by(EO, organizations=(11,))
    monkeypatch.setattr(ResourceViewSet, "permission_classes", [])

    assert (client.get(own).status_code, client.get(other).status_code) == (200, 403)
    assert [each["calendarCode"] for each in client.get("/calendars").json()] == ["A"]
