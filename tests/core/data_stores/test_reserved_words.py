"""Addresses that have no context, on a server with contexts."""

from io import StringIO

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from edfi_api.core.data_stores.models import Tenant
from tests.conftest import http


@pytest.mark.parametrize("path", ["/guides", "/GUIDES/", "/guides/use/queries", "/docs"])
def test_pages_are_served_where_they_always_are(configured, db, path):
    configured("districtId", "schoolYear")

    page = http().get(path, HTTP_ACCEPT="text/html")

    assert page.status_code == 200
    assert page["Content-Type"].startswith("text/html")


@pytest.mark.parametrize("path", ["/alpha/health", "/alpha/HEALTH", "/alpha/health/live", "/4410/guides", "/4410/docs"])
def test_no_word_of_theirs_is_the_value_of_a_context(configured, db, path):
    configured("districtId", "schoolYear")

    assert http().get("/health/live").status_code == 200
    assert http().get(path).status_code == 404


def test_a_tenant_of_an_earlier_version_with_such_a_name_is_a_problem(configured, db):
    configured(MULTI_TENANCY=True)
    Tenant.objects.create(name="Guides")

    out = StringIO()
    with pytest.raises(CommandError, match="1 problem"):
        call_command("check_data_stores", stdout=out)

    assert "tenant Guides: no address leads to it; 'Guides' is the beginning of other addresses" in out.getvalue()
