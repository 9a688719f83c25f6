"""Tenants, data stores, their contexts and derivatives, in the admin database.

A data store without context and tenant belongs to addresses without segments. Connection strings are encrypted
(`connection_strings`); a trigger counts up `revision` when one changes, so that a changed one gets a new alias.
Triggers count up `data_stores_version` with any change of these tables, so that processes notice it.
"""

from django.core.validators import RegexValidator
from django.db import models
from django.db.models.functions import Lower

LONGEST_NAME = 256

TENANT_NAME = r"\A[a-zA-Z0-9_-]+\Z"
_tenant_name = RegexValidator(TENANT_NAME, "A name consists of letters, digits, '_' and '-'.")


class State(models.TextChoices):
    """The state of a data store, which says what it can be used for."""

    PREPARING = "preparing"
    ONLINE = "online"
    READ_ONLY = "readOnly"
    OFFLINE = "offline"


class Writers(models.Model):
    """Says who wrote a row first and last: the id of a management client, `admin:` and a user, or `command`. A trigger
    fills the columns (edfi_api/common/logs/audit.py).
    """

    created_by = models.TextField(db_default="", editable=False)
    modified_by = models.TextField(db_default="", editable=False)

    class Meta:
        abstract = True


class Recorded(Writers):
    """Says who wrote a row first and last, with the times; empty for rows of versions that did not record it."""

    created_at = models.DateTimeField(null=True, editable=False)
    modified_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        abstract = True


class Tenant(Recorded):
    """A customer of the operator, with data stores of its own: the first segment of its addresses."""

    name = models.CharField(max_length=LONGEST_NAME, validators=[_tenant_name])

    class Meta:
        db_table = "tenant"
        ordering = ["name"]
        constraints = [models.UniqueConstraint(Lower("name"), name="tenant_once_in_any_case")]

    def __str__(self) -> str:
        return self.name


class DataStore(Recorded):
    """A database with documents. Names are not unique, as in Ed-Fi's servers."""

    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, null=True, blank=True, related_name="data_stores")
    name = models.CharField(max_length=LONGEST_NAME)
    type = models.CharField(max_length=50, blank=True, help_text="For people: Production, Sandbox, Training.")
    connection = models.TextField(null=True, editable=False)
    state = models.CharField(max_length=9, choices=State, default=State.PREPARING)
    revision = models.BigIntegerField(default=1, editable=False)

    class Meta:
        db_table = "data_store"
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(condition=models.Q(state__in=State.values), name="data_store_state_is_known")
        ]

    def __str__(self) -> str:
        return self.name


class DataStoreContext(Recorded):
    """The value of one qualifier, as `schoolYear`, of a data store."""

    data_store = models.ForeignKey(DataStore, on_delete=models.CASCADE, related_name="contexts")
    key = models.CharField(max_length=LONGEST_NAME)
    value = models.CharField(max_length=LONGEST_NAME)

    class Meta:
        db_table = "data_store_context"
        ordering = ["id"]
        constraints = [models.UniqueConstraint("data_store", Lower("key"), name="context_once_per_qualifier")]

    def __str__(self) -> str:
        return f"{self.key}={self.value}"


class DerivativeType(models.TextChoices):
    """The type of a derivative, which says what it is used for."""

    READ_REPLICA = "ReadReplica"
    SNAPSHOT = "Snapshot"


class DataStoreDerivative(Recorded):
    """Another database with the data of a data store."""

    data_store = models.ForeignKey(DataStore, on_delete=models.CASCADE, related_name="derivatives")
    type = models.CharField(max_length=11, choices=DerivativeType)
    connection = models.TextField(null=True, editable=False)
    revision = models.BigIntegerField(default=1, editable=False)

    class Meta:
        db_table = "data_store_derivative"
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(condition=models.Q(type__in=DerivativeType.values), name="derivative_type_is_known")
        ]

    def __str__(self) -> str:
        return f"{self.type} of {self.data_store}"


class DataStoresVersion(models.Model):
    """One row, incremented by triggers with every change of data stores and their assignments."""

    version = models.BigIntegerField()

    class Meta:
        db_table = "data_stores_version"
        managed = False
