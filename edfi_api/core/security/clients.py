"""Creating, changing and authenticating API clients.

A secret is returned once, when it is generated; only its hash is stored. `by` names the user or command in the audit
log; None writes no line, because the admin logs its own changes.

A link shows the secret of a client one time, to be sent to a vendor. The secret is stored encrypted, and only the link
has the key, in its fragment, which browsers do not send: neither the database nor a log reveals it. A client has at
most one link, that of its latest secret.
"""

import secrets
from base64 import urlsafe_b64encode
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta
from hashlib import sha256
from typing import NamedTuple

from cryptography.fernet import Fernet
from django.core.exceptions import ValidationError
from django.db import connection, transaction
from django.db.models import Model, QuerySet
from django.utils import timezone
from oauth2_provider.generators import generate_client_id
from oauth2_provider.models import get_access_token_model

from edfi_api.common.logs import audit
from edfi_api.core.data_stores.models import Tenant
from edfi_api.core.data_stores.stores import visible_to
from edfi_api.core.security.credentials import Credentials, hasher_of
from edfi_api.core.security.models import ApiClient, Application, ClaimSet, ExternalIdentity, SecretLink, Vendor

COMMAND = "command"
_LONGEST_CLIENT_NAME = 255


@transaction.atomic
def create_client(
    name: str,
    claim_set_name: str,
    education_organization_ids: Sequence[int] = (),
    namespace_prefixes: Sequence[str] = (),
    key: str | None = None,
    *,
    vendor_name: str | None = None,
    tenant: Tenant | None = None,
    expires_at: datetime | None = None,
    external: ExternalIdentity | None = None,
    by: str = COMMAND,
) -> Credentials:
    """Store a new client with an application of the same name. The vendor is created unless the tenant has one of that
    name.

    Raises Django's `ValidationError` with all problems, including names and keys that are already in use.
    """
    vendor = Vendor.objects.filter(tenant=tenant, name=vendor_name or name).first()
    problems = _Problems()
    if vendor is None:
        vendor = Vendor(tenant=tenant, name=vendor_name or name, namespace_prefixes=list(namespace_prefixes))
        problems.add_those_of(vendor)
    elif set(namespace_prefixes) - set(vendor.namespace_prefixes):
        problems.add("namespace_prefixes", f'The vendor "{vendor}" has others, for all of its clients.')
    application = Application(
        name=name, claim_set_name=claim_set_name, education_organization_ids=list(education_organization_ids)
    )
    application.vendor = vendor
    visible = ClaimSet.objects.filter(visible_to(tenant))
    claim_set = visible.filter(name__iexact=claim_set_name).first()
    if claim_set is None:
        problems.add("claim_set", _unknown_claim_set(claim_set_name, visible))
    else:
        application.claim_set = claim_set
    problems.add_those_of(application, exclude={"claim_set"} if vendor.pk else {"vendor", "claim_set"})
    client = ApiClient(name=name, client_id=key or generate_client_id(), expires_at=expires_at)
    problems.add_those_of(client, exclude={"application"})
    if external is not None:
        problems.add_those_of(external, exclude={"api_client"})
    problems.raise_any()
    vendor.save()
    application.vendor = vendor
    application.save(force_insert=True)
    return store_client(client, application, by, external)


@transaction.atomic
def add_client(
    application: Application,
    name: str,
    key: str | None = None,
    *,
    expires_at: datetime | None = None,
    external: ExternalIdentity | None = None,
    by: str = COMMAND,
) -> Credentials:
    """Store another client of an application; raises Django's `ValidationError` with all problems."""
    client = ApiClient(application=application, name=name, client_id=key or generate_client_id(), expires_at=expires_at)
    problems = _Problems()
    problems.add_those_of(client)
    if external is not None:
        problems.add_those_of(external, exclude={"api_client"})
    problems.raise_any()
    return store_client(client, application, by, external)


@transaction.atomic
def create_application(application: Application, data_store_ids: Iterable[int] = (), *, by: str) -> Credentials:
    """Store a new application, with one client of the same name. Its claim set need not exist.

    Raises `IntegrityError` where a name is taken, or the vendor or a data store does not exist.
    """
    application.save(force_insert=True)
    client = ApiClient(name=application.name[:_LONGEST_CLIENT_NAME], client_id=generate_client_id())
    credentials = store_client(client, application, by)
    client.data_stores.set(data_store_ids)
    return credentials


@transaction.atomic
def rotate_secret(client: ApiClient, by: str | None = COMMAND) -> Credentials:
    """Replace the secret of `client` and revoke its tokens."""
    credentials = set_new_secret(client)
    client.save(update_fields=["client_secret", "updated"])
    get_access_token_model().objects.filter(application=client).delete()
    if by is not None:
        audit.log_change("secret rotated", client=client.client_id, by=by)
    return credentials


@transaction.atomic
def set_approved(client: ApiClient, is_approved: bool, by: str) -> None:
    """Let `client` get tokens, or no more; one that is disabled loses those it has."""
    if client.is_active and not is_approved:
        disable_client(client, by)
    elif is_approved and not client.is_active:
        client.is_active = True
        client.save(update_fields=["is_active", "updated"])
        audit.log_change("client enabled", client=client.client_id, by=by)


@transaction.atomic
def remove_client(client: ApiClient, by: str) -> None:
    """Remove `client` with its tokens. Documents keep the id of the client that created them, which no other gets."""
    key = client.client_id
    client.delete()
    audit.log_change("client removed", client=key, by=by)


@transaction.atomic
def remove_application(application: Application, by: str) -> None:
    """Remove `application` with its clients. Raises IntegrityError or ProtectedError if one is added concurrently."""
    # Locked, so that one that a concurrent request moves to another application stays.
    for client in application.api_clients.select_for_update().order_by("pk"):
        remove_client(client, by)
    application.delete()


@transaction.atomic
def disable_client(client: ApiClient, by: str | None = COMMAND) -> None:
    """Make `client` inactive, so that it gets no token, and revoke its tokens."""
    client.is_active = False
    client.save(update_fields=["is_active", "updated"])
    get_access_token_model().objects.filter(application=client).delete()
    if by is not None:
        audit.log_change("client disabled", client=client.client_id, by=by)


def set_new_secret(client: ApiClient) -> Credentials:
    """Set a new secret on `client`, which the caller saves."""
    credentials = Credentials.generated(client.client_id)
    client.client_secret = credentials.hash
    return credentials


def recognise_client(credentials: Credentials) -> ApiClient | None:
    """The usable client with these credentials; otherwise None, after the same amount of work for every reason."""
    client = ApiClient.objects.select_related("application").filter(client_id=credentials.stored_key).first()
    is_right = credentials.match(client.client_secret if client else None)
    if client is None or not is_right or not client.is_usable(None):
        return None
    if hasher_of(client.client_secret) is not None:
        return _replace_hash(client, credentials)
    return client


def _replace_hash(client: ApiClient, credentials: Credentials) -> ApiClient | None:
    """Replace the hash of an ODS/API, whose many rounds would go on to occupy a processor. None if the secret was
    changed in the meantime; a concurrent request may have replaced the hash as well."""
    ApiClient.objects.filter(pk=client.pk, client_secret=client.client_secret).update(client_secret=credentials.hash)
    client.refresh_from_db(fields=["client_secret"])
    return client if credentials.match(client.client_secret) else None


def is_still_as_recognised(client: ApiClient) -> bool:
    """Return whether it still has the same secret and is active; locks the row until the end of the transaction."""
    same = ApiClient.objects.select_for_update(no_key=True).filter(
        pk=client.pk, client_secret=client.client_secret, is_active=True
    )
    return same.values_list("pk").first() is not None


@transaction.atomic
def store_client(
    client: ApiClient, application: Application, by: str, external: ExternalIdentity | None = None
) -> Credentials:
    """Store a new client of the application, with its external identity if it has one.

    Raises `IntegrityError` where its name, its key or the identity is taken.
    """
    client.application = application
    credentials = set_new_secret(client)
    client.save(force_insert=True)
    claim_set = application.claim_set.name if application.claim_set else application.claim_set_name
    audit.log_change("client created", client=client.client_id, claim_set=claim_set, by=by)
    if external is not None:
        set_external_identity(client, external, by)
    return credentials


@transaction.atomic
def set_external_identity(client: ApiClient, external: ExternalIdentity | None, by: str) -> None:
    """Give the client this identity in place of the one it may have; None for none. Raises `IntegrityError` where
    another client has it."""
    had_one, _ = ExternalIdentity.objects.filter(api_client=client).delete()
    if external is not None:
        external.api_client = client
        external.save(force_insert=True)
        facts = {"issuer": external.issuer, "external_client": external.value}
        audit.log_change("external identity set", client=client.client_id, **facts, by=by)
    elif had_one:
        audit.log_change("external identity removed", client=client.client_id, by=by)


def _unknown_claim_set(name: str, visible: QuerySet[ClaimSet]) -> str:
    known = ", ".join(visible.values_list("name", flat=True))
    return f'There is no claim set "{name}"; there are: {known or "none"}.' if name else "This field cannot be blank."


class _Problems:
    """Collects the validation errors of several rows, by field name."""

    def __init__(self) -> None:
        self._found: dict[str, list[str]] = {}

    def add(self, field_name: str, message: str) -> None:
        messages = self._found.setdefault(field_name, [])
        if message not in messages:
            messages.append(message)

    def add_those_of(self, row: Model, exclude: Collection[str] = frozenset()) -> None:
        """Add the errors of `row.full_clean()`."""
        try:
            row.full_clean(exclude=set(exclude))
        except ValidationError as error:
            for field_name, messages in error.message_dict.items():
                for message in messages:
                    self.add(field_name, message)

    def raise_any(self) -> None:
        if self._found:
            raise ValidationError(self._found)


LINK_LIFETIME = timedelta(hours=24)
_BYTES = 32
_TAKE = """
DELETE FROM secret_link l USING security_apiclient c
  JOIN security_application a ON a.id = c.application_id JOIN security_vendor v ON v.id = a.vendor_id
 WHERE c.id = l.api_client_id AND l.digest = %(digest)s AND l.expires_at > %(now)s
   AND c.is_active AND (c.expires_at IS NULL OR c.expires_at > %(now)s)
RETURNING v.name, a.name, c.client_id, l.ciphertext
"""


class ShownSecret(NamedTuple):
    """The secret that a link shows, and whose it is."""

    vendor: str
    application: str
    key: str
    secret: str


def make_link(client: ApiClient, credentials: Credentials) -> str:
    """The token of a new link for the secret; an earlier one of the client is void."""
    token = secrets.token_urlsafe(_BYTES)
    SecretLink.objects.update_or_create(
        api_client=client,
        defaults={
            "digest": _digest(token),
            "ciphertext": _cipher(token).encrypt(credentials.secret.encode()).decode(),
            "expires_at": timezone.now() + LINK_LIFETIME,
        },
    )
    return token


def take_secret(token: str) -> ShownSecret | None:
    """Return what the link shows, the first time that it is asked; None afterwards, for any other text, and while the
    client is inactive or has expired, whose link stays."""
    with connection.cursor() as cursor:
        row = cursor.execute(_TAKE, {"digest": _digest(token), "now": timezone.now()}).fetchone()
    if row is None:
        return None
    vendor, application, key, ciphertext = row
    return ShownSecret(vendor, application, key, _cipher(token).decrypt(ciphertext.encode()).decode())


def remove_expired_links() -> int:
    """The number of links that no one has used in time."""
    removed, _ = SecretLink.objects.filter(expires_at__lte=timezone.now()).delete()
    return removed


def _digest(token: str) -> str:
    return sha256(token.encode(errors="replace")).hexdigest()


def _cipher(token: str) -> Fernet:
    return Fernet(urlsafe_b64encode(sha256(b"secret link\0" + token.encode(errors="replace")).digest()))
