"""API clients: the systems that call the API, and what their tokens stand for.

An `ApiClient` is django-oauth-toolkit's application, swapped: the tokens of that library point at it. Whatever the
library offers for people who sign in through a browser (redirects, OpenID) stays at its defaults and is never used.
"""

from django.contrib.postgres.fields import ArrayField
from django.core.validators import RegexValidator
from django.db import models
from oauth2_provider.generators import generate_client_id
from oauth2_provider.models import AbstractApplication

# Clients may or may not URL-encode what they put into a Basic header; these characters read the same both ways.
_safe_in_basic_header = RegexValidator(
    r"\A[A-Za-z0-9._~-]+\Z", "A key consists of letters, digits, dots, underscores, tildes and hyphens."
)


class ApiClient(AbstractApplication):
    """A system with a key, a secret of which only the hash is kept, and the claims its tokens carry."""

    name = models.CharField(max_length=255, unique=True)
    client_id = models.CharField(
        "key", max_length=100, unique=True, default=generate_client_id, validators=[_safe_in_basic_header]
    )
    is_active = models.BooleanField(
        "active", default=True, help_text="An inactive client gets no token, and those it has stop working."
    )
    claim_set_name = models.CharField(max_length=255, help_text="The claim set that says what the client may do.")
    education_organization_ids = ArrayField(
        models.BigIntegerField(),
        default=list,
        blank=True,
        help_text="Education organizations whose data the client works with.",
    )
    namespace_prefixes = ArrayField(
        models.TextField(),
        default=list,
        blank=True,
        help_text="Beginnings of the namespaces whose data the client works with, such as uri://ed-fi.org.",
    )
    client_type = models.CharField(max_length=32, default=AbstractApplication.CLIENT_CONFIDENTIAL, editable=False)
    authorization_grant_type = models.CharField(
        max_length=44, default=AbstractApplication.GRANT_CLIENT_CREDENTIALS, editable=False
    )

    class Meta:
        verbose_name = "API client"
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(authorization_grant_type=AbstractApplication.GRANT_CLIENT_CREDENTIALS),
                name="api_client_uses_client_credentials",
            )
        ]

    def is_usable(self, request: object) -> bool:
        """The library's question, asked wherever it meets a client."""
        return self.is_active
