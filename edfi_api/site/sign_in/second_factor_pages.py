"""Pages and forms of the second factor: giving a code, setting up an authenticator, and a user's own settings. A valid
form with a code has used it up.

A session alone changes none of it: its cookie may be stolen. Every change also needs the password, and where there is
an authenticator a code.
"""

from base64 import b32encode
from typing import Any
from urllib.parse import quote, urlencode

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.template.response import TemplateResponse
from django.urls import reverse
from django.views.decorators.csrf import csrf_protect
from django.views.decorators.debug import sensitive_post_parameters

from edfi_api.common.conf import api_settings
from edfi_api.common.logs import audit
from edfi_api.common.logs.remote_address import remote_address
from edfi_api.site.sign_in import second_factor, sessions
from edfi_api.site.sign_in.passwords import ThrottledLoginForm
from edfi_api.site.sign_in.sessions import LOGINS

# A recovery code with its hyphens, and some spaces.
_LONGEST_CODE = 40
# The key that is being set up: in the session until the user has shown that an authenticator has it.
_KEY = "second_factor_key"


class _EmptyInput(forms.TextInput):
    """Does not show a code again that was refused."""

    def format_value(self, value: object) -> None:
        return None


class PasswordForm(ThrottledLoginForm):
    """The password of the user who is logged in, once more: checked and limited like that of a login."""

    def __init__(self, request: HttpRequest) -> None:
        super().__init__(request, request.POST or None)
        self._username = request.user.get_username()
        del self.fields["username"]
        self.fields["password"].widget.attrs["autofocus"] = True

    def clean(self) -> dict[str, Any]:
        self.cleaned_data["username"] = self._username
        return super().clean()

    def get_invalid_login_error(self) -> forms.ValidationError:
        return forms.ValidationError("The password is wrong.", code="invalid_login")


class CodeForm(forms.Form):
    """A code of the authenticator, or a recovery code."""

    code = forms.CharField(
        max_length=_LONGEST_CODE,
        widget=_EmptyInput(attrs={"autocomplete": "one-time-code", "autofocus": True, "size": 24}),
    )

    def __init__(self, request: HttpRequest, user: User, data: QueryDict | None) -> None:
        super().__init__(data)
        self._request = request
        self._user = user

    def clean_code(self) -> str:
        # Apps show `123 456`.
        code = "".join(str(self.cleaned_data["code"]).split())
        try:
            self.check_code(code)
        except second_factor.WrongCode as error:
            LOGINS.labels("second factor", "refused").inc()
            audit.log_denial(
                reason="second factor", user=self._user.get_username(), address=remote_address(self._request)
            )
            later = f" Try again in {error.wait} seconds." if error.wait else ""
            raise forms.ValidationError(f"The code is wrong, or was used before.{later}") from error
        return code

    def check_code(self, code: str) -> None:
        """Raises WrongCode."""
        self.accepted = second_factor.verify(self._user, code)


class SetUpForm(CodeForm):
    """The first code of an authenticator."""

    def __init__(self, request: HttpRequest, user: User, data: QueryDict | None, key: str) -> None:
        super().__init__(request, user, data)
        self._key = key

    def check_code(self, code: str) -> None:
        try:
            self.device, self.recovery_codes = second_factor.enrol(self._user, self._key, code)
        except second_factor.AlreadyEnrolled as error:
            raise forms.ValidationError("This user has an authenticator already.") from error


@sensitive_post_parameters("code")
@csrf_protect
def code_page(request: HttpRequest) -> HttpResponse:
    """The second step of a login."""
    login = sessions.pending(request)
    if login is None:
        return HttpResponseRedirect(reverse("admin:login"))
    form = CodeForm(request, login.user, request.POST or None)
    if not form.is_valid():
        return _page(request, "code", "Second factor", form=form, username=login.user.get_username())
    remaining = form.accepted.remaining
    way = "authenticator" if remaining is None else "recovery code"
    sessions.complete(request, login, form.accepted.device, second_factor=way)
    if remaining is not None:
        messages.warning(request, f"You have {remaining} recovery codes left.")
    return HttpResponseRedirect(login.target)


@sensitive_post_parameters("code", "password")
@csrf_protect
def set_up_page(request: HttpRequest) -> HttpResponse:
    """Show a key as a QR code until a first code is right; then the recovery codes, once. In the middle of a login."""
    login = sessions.pending(request)
    if login is None:
        return _begin_set_up(request)
    user = login.user
    if second_factor.has_authenticator(user):
        return HttpResponseRedirect(reverse("admin:second_factor_code"))
    key = request.session.setdefault(_KEY, second_factor.new_key())
    form = SetUpForm(request, user, request.POST or None, key)
    if not form.is_valid():
        return _page(request, "set_up", "Set up a second factor", form=form, **_shown(request, user, key))
    audit.log_change("second factor set up", user=user.get_username(), address=remote_address(request))
    sessions.complete(request, login, form.device, second_factor="authenticator")
    return _codes_page(request, form.recovery_codes, login.target)


def _begin_set_up(request: HttpRequest) -> HttpResponse:
    """Asks a user who is logged in for the password, and begins a login with it, which ends the session: whoever else
    has its cookie must not see the key."""
    user = _logged_in_by_password(request)
    if user is None:
        return HttpResponseRedirect(reverse("admin:login"))
    if second_factor.has_authenticator(user):
        return HttpResponseRedirect(reverse("admin:second_factor"))
    form = PasswordForm(request)
    if not form.is_valid():
        return _page(request, "password", "Set up a second factor", form=form)
    sessions.begin(request, form.get_user(), reverse("admin:index"))
    return HttpResponseRedirect(reverse("admin:second_factor_set_up"))


@sensitive_post_parameters("code", "password")
def own_page(request: HttpRequest) -> HttpResponse:
    """A user's own second factor: the recovery codes left, new ones, and removing it, by password and code."""
    user = _logged_in_by_password(request)
    if user is None:
        raise Http404
    if not second_factor.has_authenticator(user):
        return HttpResponseRedirect(reverse("admin:second_factor_set_up"))
    password = PasswordForm(request)
    # A code that is checked is used up, so it is not looked at with a wrong password.
    form = CodeForm(request, user, request.POST if password.is_valid() else None)
    if not form.is_valid():
        context = {"password": password, "form": form, "remaining": second_factor.remaining_codes(user)}
        return _page(request, "own", "Second factor", **context)
    facts = {"user": user.get_username(), "by": f"admin:{user.get_username()}", "address": remote_address(request)}
    if "remove" in request.POST:
        second_factor.remove(user)
        audit.log_change("second factor removed", **facts)
        return HttpResponseRedirect(reverse("admin:index"))
    audit.log_change("recovery codes replaced", **facts)
    return _codes_page(request, second_factor.replace_codes(user), reverse("admin:index"))


def _logged_in_by_password(request: HttpRequest) -> User | None:
    """The user, if there may be a second factor."""
    is_possible = (
        api_settings.SECOND_FACTOR and admin.site.has_permission(request) and not sessions.is_by_provider(request)
    )
    return request.user if is_possible and isinstance(request.user, User) else None


def _shown(request: HttpRequest, user: User, key: str) -> dict[str, Any]:
    """The key as a QR code in the form that authenticators read, and as text."""
    secret = b32encode(bytes.fromhex(key)).decode()
    # Without colons, which separate issuer and account.
    issuer = f"Meadowlark {request.get_host()}".replace(":", " ")
    query = urlencode({"secret": secret, "issuer": issuer}, quote_via=quote)
    address = f"otpauth://totp/{quote(f'{issuer}:{user.get_username()}')}?{query}"
    groups = [secret[at : at + 4] for at in range(0, len(secret), 4)]
    # It takes 8 MB, which most processes never need.
    import segno  # noqa: PLC0415

    return {"qr_code": segno.make(address, error="m").svg_data_uri(scale=4), "secret": " ".join(groups)}


def _codes_page(request: HttpRequest, codes: list[str], target: str) -> HttpResponse:
    return _page(request, "codes", "Recovery codes", codes=codes, target=target)


def _page(request: HttpRequest, name: str, title: str, **context: Any) -> HttpResponse:
    if not api_settings.SECOND_FACTOR:
        raise Http404
    values = {**admin.site.each_context(request), "title": title, **context}
    return TemplateResponse(request, f"sign_in/{name}.html", values)
