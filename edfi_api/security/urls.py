"""The token endpoint's address: with or without a slash at its end, in any case, as clients have it hard-coded."""

from django.urls import re_path

from .oauth import TokenView

urlpatterns = [re_path(r"(?i)^oauth/token/?\Z", TokenView.as_view(), name="oauth-token")]
