"""Ownership tokens of a source → the API clients here that own the documents created with them."""

from collections.abc import Mapping

from edfi_api.features.ods_import.models import OwnershipToken


def clients_by_token() -> Mapping[int, int]:
    """Map the tokens whose clients were imported to the row ids of the clients."""
    return dict(OwnershipToken.objects.values_list("token", "api_client"))
