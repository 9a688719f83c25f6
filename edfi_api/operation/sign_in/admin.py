"""Pages of identities at the provider, for superusers.

The pages that django-otp has of authenticators and codes show keys, so there are none: users have their own, and
`manage.py reset_second_factor` is for all others.
"""

from django.contrib import admin
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice

from .models import AdminIdentity

admin.site.unregister([TOTPDevice, StaticDevice])


@admin.register(AdminIdentity)
class AdminIdentityAdmin(admin.ModelAdmin):  # type: ignore[type-arg]  # Django's takes no arguments at run time.
    """Adding one lets a person at the provider log in as an existing user."""

    list_display = ("user", "issuer", "subject", "created_at")
    search_fields = ("user__username", "subject")
    raw_id_fields = ("user",)
    list_select_related = ("user",)
