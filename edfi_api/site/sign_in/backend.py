"""Django's authentication backend of people who log in by the provider."""

from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import User
from django.http import HttpRequest
from django.urls import reverse

from edfi_api.common.conf import api_settings
from edfi_api.site.sign_in import provider
from edfi_api.site.sign_in.users import has_claim, rights_of, user_of

CALLBACK = "admin:provider_callback"


class ProviderBackend(ModelBackend):
    """Exchanges the code of a callback for claims, and these for a user.

    The parameters of `authenticate` are those of the view of mozilla-django-oidc; Django does not call it for names and
    passwords.
    """

    def authenticate(  # type: ignore[override]  # Django calls backends by what they take.
        self, request: HttpRequest, *, nonce: str, code_verifier: str
    ) -> User | None:
        """Return the user, or None for one who was deactivated. Raises FetchFailed, jwt.PyJWTError and NotAUser."""
        redirect_uri = request.build_absolute_uri(reverse(CALLBACK))
        id_token, access_token = provider.tokens(request.GET["code"], redirect_uri, code_verifier)
        claims = provider.validated(id_token, provider.keys(), nonce)
        if not (has_claim(claims) and api_settings.SIGN_IN_USERNAME_CLAIM in claims):
            further = provider.userinfo(access_token, claims["sub"])
            claims = {**further, **{name: value for name, value in claims.items() if value is not None}}
        user = user_of(claims, rights_of(claims))
        facts: dict[str, Any] = {"issuer": claims["iss"], "subject": claims["sub"]}
        user.login_facts = facts  # type: ignore[attr-defined]  # Read by the audit log.
        return user if self.user_can_authenticate(user) else None
