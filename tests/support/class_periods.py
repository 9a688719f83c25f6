"""A class period, which is refused until its school is stored."""

from tests.conftest import ApiTestClient
from tests.web.batch.operations import DESCRIPTORS, school

PERIOD = {"classPeriodName": "First", "schoolReference": {"schoolId": 7}}


def store_school(api: ApiTestClient, number: int = 7) -> None:
    """Write a school, by default that of the period, with its descriptors."""
    for each in (*DESCRIPTORS, school(number)):
        path = (
            each["resource"]
            if each["resource"].startswith("/")
            else f"/ed-fi/{each['resource'][0].lower()}{each['resource'][1:]}s"
        )
        response = api.post("/data" + path, each["document"])
        assert response.status_code in (200, 201), response.content
