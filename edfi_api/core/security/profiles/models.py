"""Profiles and their assignment to applications.

Triggers count up `claims_version` with any change of these tables, so that processes notice it as they notice changed
claim sets.
"""

from django.core.validators import RegexValidator
from django.db import models
from django.db.models.functions import Lower

from edfi_api.core.data_stores.models import Tenant, Writers
from edfi_api.model.profiles.definition import LONGEST_NAME

_name_of_a_profile = RegexValidator(
    r"\A[A-Za-z][A-Za-z0-9_-]*\Z", "A name begins with a letter and goes on with letters, digits, '_' and '-'."
)


class Profile(Writers):
    """A stored profile, of a tenant or of all; `definition` is its canonical JSON."""

    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, null=True, blank=True, related_name="profiles")
    name = models.CharField(max_length=LONGEST_NAME, validators=[_name_of_a_profile])
    definition = models.TextField()
    # The XML from which the definition was read, if it was sent so; a trigger clears it when the definition changes.
    sent = models.TextField(blank=True, default="", editable=False)
    note = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    modified_at = models.DateTimeField(auto_now=True)
    applications = models.ManyToManyField(
        "security.Application", through="ProfileAssignment", related_name="profiles", blank=True
    )

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint("tenant", Lower("name"), nulls_distinct=False, name="profile_once_per_tenant")
        ]

    def __str__(self) -> str:
        return self.name


class ProfileAssignment(models.Model):
    """A profile that an application's clients are bound by. An assigned profile cannot be removed."""

    application = models.ForeignKey("security.Application", on_delete=models.CASCADE)
    profile = models.ForeignKey(Profile, on_delete=models.PROTECT)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["application", "profile"], name="profile_assigned_once")]

    def __str__(self) -> str:
        return f"{self.application}: {self.profile}"
