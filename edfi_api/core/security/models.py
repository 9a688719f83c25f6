"""Vendors, applications, API clients, also those of other identity providers, resource claims and claim sets.

A vendor has applications; an API client is an installation of one of them, with a key and a secret. The vendor has
the namespace prefixes of its clients, the application their claim set and education organizations. Claim sets grant
actions on resource claims, which form a tree with resources as leaves and domains as inner nodes. Triggers increment
`claims_version` with any change of these tables (sql/claims.sql), so that processes notice it.

`ApiClient` is the swapped application model of django-oauth-toolkit, to which the library's tokens refer. The fields
of the library for browser-based grants (redirects, OpenID) keep their defaults and are not used.
"""

from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.functions import RandomUUID
from django.core.exceptions import ValidationError
from django.core.validators import MinValueValidator, RegexValidator
from django.db import models
from django.db.models.functions import Lower
from django.utils import timezone
from oauth2_provider.generators import generate_client_id
from oauth2_provider.models import AbstractApplication

from edfi_api.core.data_stores.models import DataStore, Recorded, Tenant, Writers
from edfi_api.core.data_stores.stores import refuse_taken_name, visible_to
from edfi_api.core.security.claim_names import Action, claim_of
from edfi_api.core.security.issuers import LONGEST_ISSUER, issuers
from edfi_api.core.security.names import validate_name, validate_namespace_prefix

LONGEST_NAME = 256
_LONGEST_EXTERNAL_CLIENT = 255
# Clients may or may not URL-encode what they put into a Basic header; these characters read the same both ways.
_safe_in_basic_header = RegexValidator(
    r"\A[A-Za-z0-9._~-]+\Z", "A key consists of letters, digits, dots, underscores, tildes and hyphens."
)


class Vendor(Recorded):
    """A maker of applications, with the namespace prefixes of its clients.

    Its tenant is that of its applications and clients, and never changes; None on servers without tenants.
    """

    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, null=True, blank=True, related_name="vendors")
    name = models.CharField(max_length=LONGEST_NAME, validators=[validate_name])
    contact_name = models.CharField(max_length=128, blank=True)
    contact_email = models.CharField(max_length=320, blank=True)
    namespace_prefixes = ArrayField(
        models.TextField(validators=[validate_namespace_prefix]),
        default=list,
        blank=True,
        help_text="Beginnings of the namespaces that its clients work with, separated by commas: uri://ed-fi.org. "
        "Plain text, so that this one covers uri://ed-fi.org.example too.",
    )

    class Meta:
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(
                condition=~models.Q(namespace_prefixes__contains=[""]), name="vendor_has_no_blank_prefix"
            ),
            models.UniqueConstraint(fields=["tenant", "name"], nulls_distinct=False, name="vendor_once_per_tenant"),
        ]

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        refuse_taken_name(self, models.Q(tenant=self.tenant_id))


class Application(Recorded):
    """An application of a vendor, with the claim set and education organizations of its clients."""

    vendor = models.ForeignKey(Vendor, on_delete=models.PROTECT, related_name="applications")
    name = models.CharField(max_length=LONGEST_NAME, validators=[validate_name])
    claim_set = models.ForeignKey(
        "ClaimSet",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="applications",
        help_text="What its clients may do. A POST on a document that exists is authorized as Create, unless "
        "MEADOWLARK_UPSERT_ASKS_UPDATE is on: a claim set that creates people without further authorization lets its "
        "clients overwrite every person. EdFiSandbox and FullAccess filter no documents, whichever education "
        "organizations the application has.",
    )
    # Triggers keep this and `claim_set` alike; it may name a claim set that does not exist.
    claim_set_name = models.CharField(max_length=LONGEST_NAME, blank=True, default="", editable=False)
    education_organization_ids = ArrayField(
        models.BigIntegerField(validators=[MinValueValidator(1)]),
        default=list,
        blank=True,
        help_text="Ids of the education organizations whose data its clients work with, separated by commas. What lies "
        "below them is included.",
    )

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["vendor", "name"], name="application_once_per_vendor")]

    def __str__(self) -> str:
        return self.name

    def _needs_claim_set(self) -> bool:
        """Return whether the application needs a claim set: not if it was stored without one, for clients whose tokens
        say what they may do, or with the name of one that does not exist.
        """
        if not self.claim_set_name:
            return self._state.adding
        tenant = self.vendor.tenant_id if self.vendor_id else None
        return ClaimSet.objects.filter(visible_to(tenant), name__iexact=self.claim_set_name).exists()

    @property
    def claim_set_shown(self) -> str:
        """The name of its claim set, for people. That of another identity provider may have none."""
        if not self.claim_set_id and not self.claim_set_name:
            return "as its tokens say"
        return self.claim_set_name if self.claim_set_id else f"{self.claim_set_name} (does not exist)"

    def clean(self) -> None:
        """Refuse another tenant's claim set with a readable message; a trigger enforces this in the database."""
        if not self.claim_set_id and self._needs_claim_set():
            raise ValidationError({"claim_set": "This field cannot be blank."})
        if self.vendor_id and self.claim_set and self.claim_set.tenant_id not in (None, self.vendor.tenant_id):
            raise ValidationError({"claim_set": f"There is no claim set {self.claim_set} for the vendor's tenant."})
        if self.pk and self.vendor_id:
            before = Vendor.objects.filter(applications=self.pk).exclude(pk=self.vendor_id).first()
            if before is not None and before.tenant_id != self.vendor.tenant_id:
                raise ValidationError({"vendor": "The application cannot go to a vendor of another tenant."})


class ApiClient(Writers, AbstractApplication):  # type: ignore[misc]  # the toolkit is untyped
    """A system with a key and a secret: an installation of an application. Only the hash of the secret is stored."""

    name = models.CharField(max_length=255, validators=[validate_name])
    uuid = models.UUIDField(db_default=RandomUUID(), unique=True, editable=False)
    application = models.ForeignKey(
        Application,
        on_delete=models.PROTECT,
        related_name="api_clients",
        help_text="Says what the client may do, and for which education organizations.",
    )
    client_id = models.CharField(
        "key", max_length=100, unique=True, default=generate_client_id, validators=[_safe_in_basic_header]
    )
    is_active = models.BooleanField(
        "active", default=True, help_text="An inactive client gets no token, and those it has stop working."
    )
    expires_at = models.DateTimeField(
        null=True, blank=True, help_text="From then on as if it were inactive. Without a time it does not expire."
    )
    data_stores = models.ManyToManyField(
        DataStore,
        through="ApiClientDataStore",
        related_name="api_clients",
        blank=True,
        help_text="Where its documents are; the address of a request chooses one of them. Without any, the control "
        "database, as far as the settings let it.",
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
            ),
            models.UniqueConstraint(fields=["application", "name"], name="client_once_per_application"),
        ]

    @property
    def audit_facts(self) -> dict[str, object]:
        """How the audit log identifies it."""
        return {"client": self.client_id}

    def clean(self) -> None:
        """Refuse another tenant's application with a readable message; a trigger enforces this in the database."""
        super().clean()
        if self.pk and self.application_id:
            before = Vendor.objects.filter(applications__api_clients=self.pk).first()
            if before is not None and before.tenant_id != self.application.vendor.tenant_id:
                raise ValidationError({"application": "The client cannot go to an application of another tenant."})

    def is_usable(self, request: object) -> bool:
        """Hook of django-oauth-toolkit, called wherever it uses a client."""
        return self.is_active and (self.expires_at is None or self.expires_at > timezone.now())


class ApiClientDataStore(models.Model):
    """A data store that a client may use."""

    api_client = models.ForeignKey(ApiClient, on_delete=models.CASCADE)
    data_store = models.ForeignKey(DataStore, on_delete=models.CASCADE)

    class Meta:
        db_table = "api_client_data_store"
        constraints = [models.UniqueConstraint(fields=["api_client", "data_store"], name="data_store_assigned_once")]

    def __str__(self) -> str:
        return f"{self.api_client}: {self.data_store}"

    def clean(self) -> None:
        """Refuse another tenant's data store with a readable message; a trigger enforces this in the database."""
        of_client = self.api_client.application.vendor.tenant_id
        if self.data_store_id and self.data_store.tenant_id != of_client:
            raise ValidationError({"data_store": "It is not a data store of the client's tenant."})


class ExternalIdentity(models.Model):
    """The name of an API client at an identity provider: its tokens with this client are those of the API client."""

    api_client = models.OneToOneField(
        ApiClient, on_delete=models.CASCADE, primary_key=True, related_name="external_identity"
    )
    issuer = models.CharField(
        max_length=LONGEST_ISSUER,
        validators=[validate_name],
        help_text="An issuer of the file MEADOWLARK_OIDC_ISSUERS, as it is spelt there.",
    )
    value = models.CharField(
        "client",
        max_length=_LONGEST_EXTERNAL_CLIENT,
        validators=[validate_name],
        help_text="Its id at the identity provider: in tokens client_id, azp, appid or sub, unless the file names "
        "another claim.",
    )

    class Meta:
        db_table = "external_identity"
        verbose_name_plural = "external identities"
        constraints = [models.UniqueConstraint(fields=["issuer", "value"], name="external_identity_of_one_client")]

    def __str__(self) -> str:
        return f"{self.value} of {self.issuer}"

    def clean(self) -> None:
        if self.issuer and self.issuer not in issuers():
            known = ", ".join(issuers()) or "none"
            raise ValidationError({"issuer": f"MEADOWLARK_OIDC_ISSUERS has no such issuer; it has: {known}."})


class SecretLink(models.Model):
    """A link that shows the secret of a client one time: the digest of its token, and the secret encrypted by it."""

    api_client = models.OneToOneField(ApiClient, on_delete=models.CASCADE, primary_key=True, related_name="secret_link")
    digest = models.CharField(max_length=64, unique=True)
    ciphertext = models.TextField()
    expires_at = models.DateTimeField()

    class Meta:
        db_table = "secret_link"

    def __str__(self) -> str:
        return f"link for {self.api_client}"


class RefusedTokens(models.Model):
    """Tokens of an issuer are refused that it issued before a time: those of one client, or of all (no `client`)."""

    issuer = models.CharField(max_length=LONGEST_ISSUER)
    client = models.CharField(max_length=_LONGEST_EXTERNAL_CLIENT, blank=True, default="")
    issued_before = models.DateTimeField()

    class Meta:
        db_table = "refused_tokens"
        constraints = [models.UniqueConstraint(fields=["issuer", "client"], name="refused_tokens_once_per_client")]

    def __str__(self) -> str:
        return f"{self.client or 'all clients'} of {self.issuer} before {self.issued_before}"


def _strategies(**options: Any) -> Any:
    return ArrayField(models.CharField(max_length=255), **options)


class ResourceClaim(Recorded):
    """A resource, a service, or a domain that contains some: a node on which claim sets can grant actions."""

    name = models.CharField(
        max_length=255,
        unique=True,
        validators=[validate_name],
        help_text="Such as ed-fi/student, domains/people or services/identity; http://ed-fi.org/identity/claims/ is "
        "understood before it.",
    )
    parent = models.ForeignKey(
        "self",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="children",
        help_text="The domain that this one lies in: what is granted or defined there counts here too.",
    )

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        """Refuse cycles with a readable message; a trigger enforces this in the database."""
        self.name = claim_of(self.name)
        above = self.parent
        while above is not None and above.pk != self.pk:
            above = above.parent
        if above is not None:
            raise ValidationError({"parent": f"{self.name} would contain itself."})


class DefaultStrategies(models.Model):
    """The strategies of one action on a resource claim and all its descendants, unless a grant overrides them."""

    resource_claim = models.ForeignKey(ResourceClaim, on_delete=models.CASCADE, related_name="defaults")
    action = models.CharField(max_length=11, choices=Action)
    strategies = _strategies()

    class Meta:
        verbose_name = verbose_name_plural = "default strategies"
        ordering = ["resource_claim", "id"]
        constraints = [models.UniqueConstraint(fields=["resource_claim", "action"], name="defaults_once_per_action")]

    def __str__(self) -> str:
        return f"{self.action}: {', '.join(self.strategies)}"


class ClaimSet(Recorded):
    """A named set of grants, for the applications of a tenant; without a tenant for those of all."""

    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, null=True, blank=True, related_name="claim_sets")
    name = models.CharField(max_length=LONGEST_NAME, validators=[validate_name])
    description = models.TextField(blank=True, help_text="For whom it is meant.")
    # One that comes along: the management API does not change it, commands and the admin may.
    is_system_reserved = models.BooleanField(default=False, editable=False)

    class Meta:
        ordering = ["name"]
        constraints = [
            # The first is what upserts refer to.
            models.UniqueConstraint(fields=["tenant", "name"], nulls_distinct=False, name="claim_set_once_per_tenant"),
            models.UniqueConstraint(
                Lower("name"), "tenant", nulls_distinct=False, name="claim_set_name_once_in_any_case"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        """Refuse a name that is taken with a readable message; constraints and a trigger enforce this."""
        others = ClaimSet.objects.filter(visible_to(self.tenant_id) if self.tenant_id else models.Q())
        taken = others.filter(name__iexact=self.name).exclude(pk=self.pk).first()
        if taken is not None:
            text = f"There is a claim set {taken} already. Names of claim sets are unique in any case."
            raise ValidationError({"name": text})


class Grant(models.Model):
    """The actions that a claim set allows on a resource claim and all its descendants."""

    claim_set = models.ForeignKey(ClaimSet, on_delete=models.CASCADE, related_name="grants")
    resource_claim = models.ForeignKey(ResourceClaim, on_delete=models.PROTECT, related_name="grants")
    actions = ArrayField(models.CharField(max_length=11, choices=Action))

    class Meta:
        ordering = ["claim_set", "resource_claim__name"]
        constraints = [models.UniqueConstraint(fields=["claim_set", "resource_claim"], name="one_grant_per_claim")]

    def __str__(self) -> str:
        return f"{self.claim_set}: {self.resource_claim}"


class OverridingStrategies(models.Model):
    """The strategies of one granted action in place of the defaults."""

    grant = models.ForeignKey(Grant, on_delete=models.CASCADE, related_name="overrides")
    action = models.CharField(max_length=11, choices=Action)
    strategies = _strategies()

    class Meta:
        verbose_name = verbose_name_plural = "overriding strategies"
        ordering = ["grant", "id"]
        constraints = [models.UniqueConstraint(fields=["grant", "action"], name="overrides_once_per_action")]

    def __str__(self) -> str:
        return f"{self.action}: {', '.join(self.strategies)}"


class ClaimsVersion(models.Model):
    """One row, incremented by triggers with every change of claims and claim sets."""

    version = models.BigIntegerField()

    class Meta:
        db_table = "claims_version"
        managed = False
