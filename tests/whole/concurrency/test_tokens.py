"""Token requests concurrent with changes of the client."""

import pytest
from django.db import transaction

from edfi_api.core.security.clients import create_client, disable_client, rotate_secret
from edfi_api.core.security.models import ApiClient
from tests.conftest import ApiTestClient, http
from tests.whole.concurrency.concurrently import in_background, wait_until_one_waits_for_us


@pytest.mark.parametrize("shut_out", [disable_client, rotate_secret])
@pytest.mark.usefixtures("transactional_db")
def test_no_token_is_issued_while_its_client_is_disabled(shut_out) -> None:
    """The secret was valid when it was checked; the token would stay valid after the client was disabled."""
    made = create_client("victim", "EdFiSandbox")
    form = {"grant_type": "client_credentials", "client_id": made.key, "client_secret": made.secret}

    with transaction.atomic():
        shut_out(ApiClient.objects.get())
        token_request = in_background(lambda: http().post("/oauth/token", form, content_type="application/json"))
        wait_until_one_waits_for_us(token_request)

    answer = token_request.result()
    assert (answer.status_code, answer.json()["error"]) == (401, "invalid_client")
    assert not ApiClient.objects.get().accesstoken_set.exists()


@pytest.mark.usefixtures("transactional_db")
def test_a_renamed_client_gets_its_token() -> None:
    made = create_client("client", "EdFiSandbox")
    form = {"grant_type": "client_credentials", "client_id": made.key, "client_secret": made.secret}

    with transaction.atomic():
        ApiClient.objects.update(name="renamed")
        token_request = in_background(lambda: http().post("/oauth/token", form, content_type="application/json"))
        wait_until_one_waits_for_us(token_request)

    token = token_request.result().json()["access_token"]
    assert ApiTestClient(token).get("/schools").status_code == 200
