"""Clients of the management API and their tokens.

They are not API clients: their tokens give no access to data, and those of API clients no management.
"""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Lower

from edfi_api.core.data_stores.models import Writers
from edfi_api.features.management_api.scopes import Scope

LONGEST_NAME = 256


class ManagementClient(Writers):
    """A program or person that may manage this server. Only the hash of the secret is stored."""

    key = models.CharField(max_length=LONGEST_NAME)
    name = models.CharField(max_length=LONGEST_NAME)
    secret = models.TextField(editable=False)
    scopes = ArrayField(models.CharField(max_length=64, choices=[(scope, scope) for scope in Scope]))
    is_active = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)
    modified_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        ordering = ["key"]
        constraints = [models.UniqueConstraint(Lower("key"), name="management_client_once_in_any_case")]

    def __str__(self) -> str:
        return self.key


class ManagementToken(models.Model):
    """A token of a management client; `checksum` is its SHA-256."""

    client = models.ForeignKey(ManagementClient, on_delete=models.CASCADE, related_name="tokens")
    checksum = models.CharField(max_length=64, unique=True)
    scopes = ArrayField(models.CharField(max_length=64))
    issued_at = models.DateTimeField()
    expires_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"token {self.pk} of {self.client_id}"
