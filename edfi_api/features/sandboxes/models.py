"""Sandboxes, in the admin database."""

from django.core.validators import RegexValidator
from django.db import models

from edfi_api.core.data_stores.models import DataStore
from edfi_api.core.security.models import ApiClient
from edfi_api.features.sandboxes.shapes import Shape

LONGEST_NAME = 24
# It is in the name of a database.
NAME = rf"\A[a-z0-9](?:[a-z0-9-]{{0,{LONGEST_NAME - 2}}}[a-z0-9])?\Z"
NAME_RULE = f"A name consists of up to {LONGEST_NAME} lower-case letters, digits and hyphens between them."


class Sandbox(models.Model):
    """A data store with one client. `generation` counts how often it was reset; each one has a database of its own. It
    ends when the client expires."""

    name = models.CharField(max_length=LONGEST_NAME, unique=True, validators=[RegexValidator(NAME, NAME_RULE)])
    shape = models.CharField(max_length=10, choices=Shape)
    is_populated = models.BooleanField()
    data_store = models.OneToOneField(DataStore, on_delete=models.CASCADE, related_name="sandbox")
    client = models.OneToOneField(ApiClient, on_delete=models.CASCADE, related_name="sandbox")
    generation = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "sandbox"
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name
