"""Texts of filters and members are data, whatever they contain."""

from typing import Any
from urllib.parse import urlencode

import pytest

from edfi_api.core.security.models import Vendor
from edfi_api.features.management_api.listing import fields_of
from edfi_api.features.management_api.urls import all_addresses
from edfi_api.features.management_api.views import CreateViewSet
from tests.features.management_api.managing import APPLICATION, VENDOR, Managing, created_id

TEXTS = (
    "'; DROP TABLE security_vendor; --",
    '" OR 1=1',
    "%' OR '%'='",
    "\\",
    "{}[]$.",
    "%s %(id)s {0}",
    "<script>alert(1)</script>",
    "../../etc/passwd",
    "\u202e\ufffd\U0001d504",
)


def filters() -> dict[str, str]:
    """Path of each list → the names of its filters."""
    return {
        address.template: ",".join(field.name for field in fields_of(view.listing.filters, view.serializer_class))
        for address in all_addresses()
        for view in [address.view.cls(**address.view.initkwargs)]
        if issubclass(address.view.cls, CreateViewSet)
        and address.actions.get("get") == "list"
        and not address.path.startswith("tenants")
    }


@pytest.mark.usefixtures("vendor")
def test_texts_in_filters_find_nothing_and_break_nothing(management: Managing, configured) -> None:
    configured(MANAGEMENT_REQUESTS_PER_MINUTE=0, MULTI_TENANCY=False)
    answers: dict[tuple[str, str], set[tuple[int, str]]] = {}
    for path, names in filters().items():
        for name in (*names.split(","), "orderBy", "direction", "limit"):
            found = {
                (answer.status_code, "rows" if answer.status_code == 200 and answer.json() else "none")
                for text in (TEXTS[0], "%\\", "\0", "9" * 40)
                for answer in [management.get(f"{path}?{urlencode({name: text})}")]
            }
            answers[path, name] = found

    allowed = {(200, "none"), (400, "none")}
    wrong = {place: found - allowed for place, found in answers.items() if found - allowed}
    assert wrong == {}
    assert len(answers) > 60
    assert Vendor.objects.count() == 1


def test_texts_in_members_are_answered_as_they_were_sent(management: Managing) -> None:
    for text in TEXTS:
        vendor = created_id(management.post("/v3/vendors", VENDOR | {"company": text, "contactName": text}))
        found: dict[str, Any] = management.get(f"/v3/vendors/{vendor}").json()
        assert (found["company"], found["contactName"]) == (text, text)
        body = APPLICATION | {"vendorId": vendor, "applicationName": text}
        application = created_id(management.post("/v3/applications", body))
        assert management.get(f"/v3/applications/{application}").json()["applicationName"] == text
        store = created_id(
            management.post("/v3/dataStores", {"dataStoreType": text, "name": text, "connectionString": None})
        )
        assert management.get(f"/v3/dataStores/{store}").json()["name"] == text
    assert [row["company"] for row in management.get("/v3/vendors").json()] == list(TEXTS)
