"""What the environment says is checked before anything believes it."""

import pytest
from django.core.exceptions import ImproperlyConfigured

from meadowlark.environment import Environment


@pytest.mark.parametrize(
    ("text", "reason"), [("-5", "MEADOWLARK_X is -5; it must not be negative"), ("many", "it must be a whole number")]
)
def test_a_number_that_cannot_be_meant_is_refused(monkeypatch: pytest.MonkeyPatch, text: str, reason: str) -> None:
    monkeypatch.setenv("MEADOWLARK_X", text)

    with pytest.raises(ImproperlyConfigured, match=reason):
        Environment().int("MEADOWLARK_X", default=90)
