"""Forms of the second factor. A valid one with a code has used it up."""

from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.http import HttpRequest, QueryDict

from edfi_api.logs import audit
from edfi_api.logs.remote_address import remote_address

from . import second_factor
from .metrics import LOGINS
from .passwords import ThrottledLoginForm

# A recovery code with its hyphens, and some spaces.
_LONGEST_CODE = 40


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
            audit.denied(reason="second factor", user=self._user.get_username(), address=remote_address(self._request))
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
