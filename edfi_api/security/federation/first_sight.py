"""API clients of an issuer whose tokens say what they may do, made when the first token of each is seen.

They are there for what refers to a client: creators of documents, the audit log, limits, and switching one off in the
admin. They belong to a vendor and an application with the name of the issuer, and to no claim set.
"""

from django.db import IntegrityError, transaction

from edfi_api.data_stores.models import Tenant

from ..clients import store_client
from ..models import ApiClient, Application, Vendor
from .models import ExternalIdentity
from .validation import ValidToken


def make_client(valid: ValidToken, tenant: Tenant | None) -> None:
    """Store the API client of a token, unless another request has just done so."""
    issuer = valid.issuer.issuer
    try:
        with transaction.atomic():
            vendor, _ = Vendor.objects.get_or_create(tenant=tenant, name=issuer)
            application, _ = Application.objects.get_or_create(vendor=vendor, name=issuer)
            identity = ExternalIdentity(issuer=issuer, value=valid.client)
            store_client(ApiClient(name=valid.client), application, issuer, identity)
    except IntegrityError:
        if not ExternalIdentity.objects.filter(issuer=issuer, value=valid.client).exists():
            raise
