"""Students in answers."""

from typing import Any


def unique_ids(response: Any) -> list[str]:
    """The unique ids of a page of students."""
    assert response.status_code == 200, response.content
    return [body["studentUniqueId"] for body in response.json()]
