"""A client "tests" with a valid token, whose rows are made once and inserted for each test by one statement."""

from dataclasses import replace
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connection

from edfi_api.core.security.claims import compile as claims
from edfi_api.core.security.requests.authentication import client_of_token, token_checksum
from edfi_api.core.storage.database_state import database_state

_ROWS = """
SELECT to_jsonb(vendor)::text, to_jsonb(application)::text, to_jsonb(client)::text, to_jsonb(access)::text,
       access.expires - now()
FROM oauth2_provider_accesstoken access
JOIN security_apiclient client ON client.id = access.application_id
JOIN security_application application ON application.id = client.application_id
JOIN security_vendor vendor ON vendor.id = application.vendor_id
"""
# Tests that make the tables again begin with id 1 again.
_FAR_IDS = """
SELECT setval(pg_get_serial_sequence(name, 'id'), 1000000) FROM unnest(ARRAY[
    'security_vendor', 'security_application', 'security_apiclient', 'oauth2_provider_accesstoken'
]) AS name
"""
# Tests that migrate again give claim sets other ids.
_INSERT = """
WITH vendor AS (
    INSERT INTO security_vendor SELECT * FROM jsonb_populate_record(NULL::security_vendor, %s)
), application AS (
    INSERT INTO security_application
    SELECT row.* FROM security_claimset claim_set CROSS JOIN jsonb_populate_record(
        NULL::security_application, %s::jsonb || jsonb_build_object('claim_set_id', claim_set.id)
    ) row
    WHERE claim_set.name = row.claim_set_name
    RETURNING claim_set_id
), client AS (
    INSERT INTO security_apiclient SELECT * FROM jsonb_populate_record(NULL::security_apiclient, %s)
), access AS (
    INSERT INTO oauth2_provider_accesstoken SELECT * FROM jsonb_populate_record(
        NULL::oauth2_provider_accesstoken, %s::jsonb || jsonb_build_object('expires', clock_timestamp() + %s)
    )
    RETURNING expires
)
SELECT claim_set_id, version, expires FROM application, access, claims_version
"""


def take_far_ids() -> None:
    """The next client and its token have ids that no other rows have in any test."""
    with connection.cursor() as cursor:
        cursor.execute(_FAR_IDS)


class InsertedClient:
    """The rows of the only client in the database, to be inserted again after it has been rolled back."""

    def __init__(self, token: str) -> None:
        self._token = token
        client = client_of_token(token)
        assert client is not None and client.claim_set_id is not None
        self._client = client
        assert claims.operations(self._client)
        self._claim_set = _compiled_claim_sets()[client.claim_set_id]
        self._rows = self._execute(_ROWS, None)

    def insert(self) -> str:
        """Insert the rows; return the token. Its client and its claim set are known to this process, as if it had sent
        a request."""
        claim_set_id, claims_version, expires = self._execute(_INSERT, self._rows)
        client_of_token.cache[token_checksum(self._token)] = replace(
            self._client, claim_set_id=claim_set_id, claims_version=claims_version, token_expires=expires
        )
        if (claim_set_id, claims_version) == (self._client.claim_set_id, self._claim_set.version):
            _compiled_claim_sets()[claim_set_id] = self._claim_set
        return self._token

    def _execute(self, statement: str, parameters: Any) -> Any:
        with connection.cursor() as cursor:
            cursor.execute(statement, parameters)
            return cursor.fetchone()


def _compiled_claim_sets() -> dict[int, Any]:
    return database_state(DEFAULT_DB_ALIAS).value(claims._compiled)
