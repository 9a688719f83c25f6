"""Forms that copy and import claim sets."""

from typing import Any

import orjson
from django import forms
from django.core.exceptions import ValidationError

from edfi_api.conf import api_settings
from edfi_api.data_stores.models import Tenant
from edfi_api.startup import current_surface

from ..claims.exchange import (
    InvalidResourceClaims,
    MalformedResourceClaims,
    copy_claim_set,
    imported,
    objects,
    replace_grants,
)
from ..claims.stored_claims import stored_claims
from ..models import ClaimSet

_NO_EXPORT = "It is not a claim set: a JSON object with claimSetName and resourceClaims, as an export is."
_TAKEN = "There is a claim set of this name. Choose another name, or replace it."


class _OfTenant(forms.Form):
    """Has the choice of a tenant, on servers with tenants."""

    tenant = forms.ModelChoiceField(
        Tenant.objects.all(), required=False, help_text="Whose claim set it becomes. Without one, all tenants share it."
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not api_settings.MULTI_TENANCY:
            del self.fields["tenant"]


class CopyForm(_OfTenant, forms.ModelForm):  # type: ignore[type-arg]  # Django's takes no arguments at run time.
    """The name of the copy."""

    class Meta:
        model = ClaimSet
        fields = ["name", "tenant"]

    def store_copy(self, original: ClaimSet, by: str) -> ClaimSet:
        """Needs a transaction, in which claims were locked before the form was checked."""
        copy: ClaimSet = self.instance
        copy.description = original.description
        copy_claim_set(original, copy, by)
        return copy


class ImportForm(_OfTenant):
    """A file of one claim set, as an export is.

    Needs a transaction, in which claims are locked before the form is checked. After the check `claim_set` is the one
    to replace, or a new one, and `found` what the file grants.
    """

    file = forms.FileField(
        help_text="As Export makes it, or claimSets/{id}/export of the management API: a JSON object with claimSetName "
        "and resourceClaims."
    )
    name = forms.CharField(required=False, help_text="In place of the name in the file.")
    replace = forms.BooleanField(
        required=False, help_text="Replace the grants of the claim set of this name, if there is one."
    )

    def __init__(self, *args: Any, may_replace: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not may_replace:
            del self.fields["replace"]

    def clean_file(self) -> dict[str, Any]:
        file = self.cleaned_data["file"]
        if (file.size or 0) > api_settings.MAX_BODY_BYTES:
            raise ValidationError(f"It has more than {api_settings.MAX_BODY_BYTES:,} bytes.")
        try:
            read = orjson.loads(file.read().removeprefix(b"\xef\xbb\xbf"))
        except orjson.JSONDecodeError as error:
            raise ValidationError(f"It is not JSON: {error}.") from None
        if not isinstance(read, dict):
            raise ValidationError(_NO_EXPORT)
        sent = {name.lower(): value for name, value in read.items()}
        name = sent.get("claimsetname", "")
        if "resourceclaims" not in sent or not isinstance(name, str):
            raise ValidationError(_NO_EXPORT)
        # The field refuses NUL, which the database does not take.
        return sent | {"claimsetname": self.fields["name"].clean(name)}

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if sent := cleaned.get("file"):
            name, tenant = cleaned.get("name") or sent["claimsetname"], cleaned.get("tenant")
            self.claim_set = self._named(name, tenant)
            self._read(sent, name, tenant)
        return cleaned

    def _named(self, name: str, tenant: Tenant | None) -> ClaimSet:
        row = ClaimSet.objects.filter(tenant=tenant, name__iexact=name).first()
        if row is None:
            row = ClaimSet(tenant=tenant, name=name)
            try:
                row.full_clean()
            except ValidationError as error:
                self.add_error("name", error.messages)
        elif not self.cleaned_data.get("replace"):
            self.add_error("name", _TAKEN)
        return row

    def _read(self, sent: dict[str, Any], name: str, tenant: Tenant | None) -> None:
        try:
            claims = objects(sent, "resourceclaims")
            self.found = imported(name, claims, stored_claims(tenant), current_surface())
        except MalformedResourceClaims as error:
            self.add_error("file", f"Its resource claims cannot be read: {error}.")
        except InvalidResourceClaims as error:
            self.add_error("file", list(error.findings))

    def store(self, by: str) -> ClaimSet:
        """Store what was read."""
        if not self.claim_set.pk:
            self.claim_set.save(force_insert=True)
        replace_grants(self.claim_set, self.found.grants, by)
        return self.claim_set
