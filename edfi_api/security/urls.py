"""The token endpoint's address: with or without a slash at its end, in any case, as clients have it hard-coded."""

from django.urls import re_path

from .oauth import TokenView


def _in_any_case(path: str) -> str:
    """A regular expression for `path`. Django cannot reverse the flag that would say the same."""
    return "".join(f"[{letter}{letter.upper()}]" if letter.isalpha() else letter for letter in path)


urlpatterns = [re_path(rf"^{_in_any_case('oauth/token')}/?\Z", TokenView.as_view(), name="oauth-token")]
