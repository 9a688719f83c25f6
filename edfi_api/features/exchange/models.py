"""Connections to other Ed-Fi APIs and their state, in the admin database; in each database with documents, how far
the connections of its documents are, and what of them waits.

Secrets are encrypted as connection strings of data stores are.
"""

from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit

from django.contrib.postgres.fields import ArrayField
from django.core.exceptions import ValidationError
from django.core.validators import MinValueValidator, RegexValidator
from django.db import models
from django.db.models.functions import Lower

from edfi_api.common.conf import api_settings
from edfi_api.common.logs.printable import is_printable
from edfi_api.core.data_stores.connection_strings import decrypt, encrypt, is_allowed
from edfi_api.core.data_stores.models import LONGEST_NAME, TENANT_NAME, DataStore, Recorded
from edfi_api.core.security.models import ApiClient
from edfi_api.features.exchange.resource_selection import DescriptorMapping, NotAMapping, SelectionMode

# Whoever may enter a connection could otherwise find out which ports of the network are open.

_LOOPBACK = "localhost"


@dataclass
class AddressRefused(Exception):
    """An address that is not called; `reason` is for people and does not quote it."""

    reason: str


def checked_address(address: str, *, allows_plain_http: bool = True) -> SplitResult:
    """The parts of an address. Raises AddressRefused unless it is of https, or of http to this host; with
    `allows_plain_http` to any."""
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise AddressRefused("It is not an address.") from None
    if not is_printable(address) or parts.scheme not in ("http", "https") or not host:
        raise AddressRefused("It is not an address that begins with https://.")
    if parts.username is not None or parts.password is not None:
        raise AddressRefused("User and password do not belong into it.")
    if not is_allowed(host, api_settings.STORE_HOSTS):
        raise AddressRefused("MEADOWLARK_STORE_HOSTS does not name its host.")
    if parts.scheme == "http" and not (allows_plain_http or _is_loopback(host)):
        raise AddressRefused("It begins with http://, which is for this host only, unless --insecure is given.")
    return parts


def origin(parts: SplitResult) -> tuple[str, str, int]:
    """Scheme, host and port."""
    return parts.scheme, parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)


def _is_loopback(host: str) -> bool:
    if host.lower() == _LOOPBACK:
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


_LONGEST_ADDRESS = 1000
_LONGEST_KEY = 256
NAME_TAKEN = "There is a connection of this name."
_name = RegexValidator(TENANT_NAME, "A name consists of letters, digits, '_' and '-'.")


class ExchangeDirection(models.TextChoices):
    """The direction in which documents go."""

    PULL = "pull"
    PUSH = "push"


class Connection(Recorded):
    """Another Ed-Fi API, what passes between it and a data store, and the API client here on whose behalf: it owns
    what is pulled, and what is pushed is what it may read.

    Without a data store the documents are those of the admin database.
    """

    name = models.CharField(max_length=LONGEST_NAME, validators=[_name])
    direction = models.CharField(max_length=4, choices=ExchangeDirection)
    address = models.CharField(max_length=_LONGEST_ADDRESS, help_text="Of the other API: where its discovery is.")
    token_address = models.CharField(
        max_length=_LONGEST_ADDRESS, blank=True, help_text="Where tokens come from, unless discovery says it."
    )
    key = models.CharField(max_length=_LONGEST_KEY)
    secret = models.TextField(editable=False)
    scope = models.BigIntegerField(
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
        help_text="Id of the education organization to which tokens are limited.",
    )
    school_year = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="In the addresses of the other API."
    )
    read_profile = models.CharField(max_length=LONGEST_NAME, blank=True, help_text="API profile of what is read.")
    write_profile = models.CharField(max_length=LONGEST_NAME, blank=True, help_text="API profile of what is written.")
    selection = models.CharField(
        max_length=12,
        choices=[(mode.value, mode.value) for mode in SelectionMode],
        default=SelectionMode.ALL.value,
        help_text="include: the resources and all that they depend on; exclude: all but the resources and what depends "
        "on them; include-only and exclude-only: just these.",
    )
    resources = ArrayField(
        models.CharField(max_length=LONGEST_NAME), default=list, blank=True, help_text="ed-fi/students, ed-fi/schools"
    )
    with_descriptors = models.BooleanField(default=True)
    education_organization_ids = ArrayField(
        models.BigIntegerField(validators=[MinValueValidator(1)]),
        default=list,
        blank=True,
        help_text="Only what a client of these organizations could read. What lies below them is included.",
    )
    descriptor_mapping = models.TextField(
        blank=True, help_text="A line for each descriptor: its URI at the other API, a comma, its URI here."
    )
    data_store = models.ForeignKey(
        DataStore, on_delete=models.PROTECT, null=True, blank=True, related_name="connections"
    )
    api_client = models.ForeignKey(ApiClient, on_delete=models.PROTECT, related_name="connections")
    requests_per_second = models.PositiveIntegerField(
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
        help_text="Requests to the other API in a second at most; empty is any number.",
    )
    is_enabled = models.BooleanField("enabled", default=False, help_text="Followed by run_exchange.")

    class Meta:
        db_table = "exchange_connection"
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(
                Lower("name"), name="connection_once_in_any_case", violation_error_message=NAME_TAKEN
            ),
            models.CheckConstraint(
                condition=models.Q(direction__in=ExchangeDirection.values), name="connection_direction_is_known"
            ),
            models.CheckConstraint(
                condition=models.Q(selection__in=[mode.value for mode in SelectionMode]),
                name="connection_selection_is_known",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def audit_facts(self) -> dict[str, object]:
        """How the audit log identifies it."""
        return {"connection": self.name}

    @property
    def mapping(self) -> DescriptorMapping:
        """Raises NotAMapping."""
        return DescriptorMapping.parse(self.descriptor_mapping)

    def set_secret(self, secret: str) -> None:
        """Raises NoStoreKey if there is no key that outlasts the process."""
        self.secret = encrypt(secret)

    def plain_secret(self) -> str:
        """Raises ConnectionUnusable if it cannot be decrypted."""
        return decrypt(self.secret)

    def clean(self) -> None:
        problems: dict[str, str] = {}
        for field in ("address", "token_address"):
            try:
                if given := getattr(self, field):
                    checked_address(given)
            except AddressRefused as refusal:
                problems[field] = refusal.reason
        try:
            DescriptorMapping.parse(self.descriptor_mapping)
        except NotAMapping as refusal:
            problems["descriptor_mapping"] = str(refusal)
        if self.selection == SelectionMode.ALL.value and self.resources:
            problems["resources"] = "Only with a selection other than all."
        if self.data_store_id and self.api_client_id and not self._client_may_use_store():
            problems["data_store"] = "The API client may not use it."
        if problems:
            raise ValidationError(problems)

    def _client_may_use_store(self) -> bool:
        return self.api_client.data_stores.filter(pk=self.data_store_id).exists()


class Phase(models.TextChoices):
    """The phase of the work for a connection."""

    IDLE = "idle"
    RUNNING = "running"
    WAITING = "waiting"
    FAILED = "failed"


class ConnectionState(models.Model):
    """The last report of a process that worked for a connection, for people and metrics.

    `position` and `newest` are change versions of the source; `caught_up_at` is when they were last equal. `accepted`
    and `refused` are documents since the connection was made, `rate` is in documents per second. What counts for the
    work itself is `ExchangePosition`.
    """

    connection = models.OneToOneField(Connection, on_delete=models.CASCADE, primary_key=True, related_name="state")
    phase = models.CharField(max_length=7, choices=Phase, default=Phase.IDLE)
    since = models.DateTimeField()
    reported_at = models.DateTimeField()
    failure = models.TextField(blank=True)
    position = models.BigIntegerField(null=True)
    newest = models.BigIntegerField(null=True)
    caught_up_at = models.DateTimeField(null=True)
    accepted = models.BigIntegerField(default=0)
    refused = models.BigIntegerField(default=0)
    rate = models.FloatField(null=True)

    class Meta:
        db_table = "exchange_state"
        constraints = [
            models.CheckConstraint(condition=models.Q(phase__in=Phase.values), name="exchange_phase_is_known")
        ]

    def __str__(self) -> str:
        return f"{self.connection_id}: {self.phase}"


class ExchangePosition(models.Model):
    """The position of a connection, in the database with its documents: `version` is done, None before the first
    window, and a window up to `under_way` has begun. If it is interrupted, the same window is repeated: a longer one
    would list several key changes as one, whose first part is done, and a longer first one would not list the deletes
    of what it has brought."""

    connection = models.BigIntegerField(primary_key=True)
    version = models.BigIntegerField(null=True)
    under_way = models.BigIntegerField(null=True)
    moved_at = models.DateTimeField(db_default=models.functions.Now())

    class Meta:
        db_table = "exchange_position"

    def __str__(self) -> str:
        return f"{self.connection}: {self.version}"


class WaitingDocument(models.Model):
    """A document of the source of a pull that was refused here. It is read again at `due_at`, each time later, until it
    is accepted or no longer there; the ledger of refusals says why it was refused.

    With `document_uuid` it is a document here that is to be deleted and could not be: the source has deleted it, or has
    given it a key that it could not be given here. That is tried again until it is deleted, or the source has its key
    again. A document of the source may have left several, and wait itself."""

    id = models.BigAutoField(primary_key=True)
    connection = models.BigIntegerField()
    resource = models.TextField()
    remote_id = models.TextField()
    attempts = models.IntegerField(default=1)
    due_at = models.DateTimeField()
    document_uuid = models.UUIDField(null=True)

    class Meta:
        db_table = "exchange_waiting"
        constraints = [
            models.UniqueConstraint(
                fields=["connection", "resource", "remote_id", "document_uuid"],
                nulls_distinct=False,
                name="exchange_waiting_once",
            )
        ]
        indexes = [models.Index(fields=["connection", "due_at"], name="exchange_waiting_due")]

    def __str__(self) -> str:
        return f"{self.connection}: {self.resource} {self.remote_id}"


class PinnedDocument(models.Model):
    """The document here that a document of the source was, by its old key, when a window with key changes began;
    None if it was not here. A window that is interrupted goes on with these: by then, keys may be those of others."""

    id = models.BigAutoField(primary_key=True)
    connection = models.BigIntegerField()
    resource = models.TextField()
    remote_id = models.TextField()
    document_uuid = models.UUIDField("document", null=True)
    is_delete = models.BooleanField(default=False)

    class Meta:
        db_table = "exchange_pinned"
        constraints = [
            models.UniqueConstraint(fields=["connection", "resource", "remote_id"], name="exchange_pinned_once")
        ]

    def __str__(self) -> str:
        return f"{self.connection}: {self.resource} {self.remote_id}"
