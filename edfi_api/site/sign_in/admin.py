"""Pages of users and of their identities at the provider, for superusers.

The pages that django-otp has of authenticators and codes show keys, so there are none: users have their own, and
`manage.py reset_second_factor` is for all others.
"""

from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice

from edfi_api.common.conf import api_settings
from edfi_api.site.sign_in.models import AdminIdentity
from edfi_api.site.sign_in.passwords import ThrottledLoginForm

admin.site.login_form = ThrottledLoginForm
admin.site.unregister([TOTPDevice, StaticDevice, User])


@admin.register(User)
class UserWithSecondFactorAdmin(UserAdmin):  # type: ignore[type-arg]  # Django's takes no arguments at run time.
    """Django's pages, with a column that says who has an authenticator, where second factors are used."""

    def get_list_display(self, request: HttpRequest) -> Any:
        return [*super().get_list_display(request), *(["second_factor"] if api_settings.SECOND_FACTOR else [])]

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        authenticators = TOTPDevice.objects.filter(user=OuterRef("pk"), confirmed=True)
        rows: QuerySet[User] = super().get_queryset(request).annotate(has_authenticator=Exists(authenticators))
        return rows

    @admin.display(boolean=True, ordering="has_authenticator")
    def second_factor(self, user: User) -> bool:
        return bool(user.has_authenticator)  # type: ignore[attr-defined]  # Annotated above.


@admin.register(AdminIdentity)
class AdminIdentityAdmin(admin.ModelAdmin):  # type: ignore[type-arg]  # Django's takes no arguments at run time.
    """Adding one lets a person at the provider log in as an existing user."""

    list_display = ("user", "issuer", "subject", "created_at")
    search_fields = ("user__username", "subject")
    raw_id_fields = ("user",)
    list_select_related = ("user",)
