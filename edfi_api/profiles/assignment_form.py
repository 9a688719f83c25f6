"""The choice of profiles on the admin's page of an application."""

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.admin.widgets import AutocompleteSelectMultiple

from edfi_api.profiles.models import Profile, ProfileAssignment
from edfi_api.security.models import Application


class ApplicationForm(forms.ModelForm):  # type: ignore[type-arg]  # Django's takes no arguments at run time.
    """An application and the profiles that its clients are bound by; the admin stores these after the application."""

    # Not `profiles`: for users who may only view, the admin would look for a field of the model.
    api_profiles = forms.ModelMultipleChoiceField(
        Profile.objects.all(),
        label="API profiles",
        required=False,
        widget=AutocompleteSelectMultiple(ProfileAssignment._meta.get_field("profile"), admin.site),
        help_text="What its clients see and write of the resources that these profiles name. None: everything.",
    )

    class Meta:
        model = Application
        fields = ["name", "vendor", "claim_set", "education_organization_ids"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk:
            self.initial["api_profiles"] = list(self.instance.profiles.all())
