"""Ownership tokens of a source → the API clients here that own the documents created with them."""

from collections.abc import Mapping

from edfi_api.features.ods_import.models import OwnershipToken


def clients_by_token() -> Mapping[int, int]:
    """Of the tokens whose clients were imported: the row id of the client."""
    return dict(OwnershipToken.objects.values_list("token", "api_client"))
