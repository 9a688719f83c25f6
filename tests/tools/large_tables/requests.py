"""The pages of refusals and results: in the admin each filter that a list offers, and more; queries of the API."""

import re
from collections.abc import Iterator
from html import unescape

from django.test import Client

REFUSALS, RESULTS = "/admin/refusals/refusal/", "/admin/validation/validationresult/"
_OTHER_PAGES = (
    "/admin/",
    f"{REFUSALS}overview/",
    f"{REFUSALS}activity/",
    f"{RESULTS}overview/",
    "/admin/validation/validationrule/",
    "/admin/validation/validationrun/",
)
_STATES = ("", "?state=all", "?state=resolved")
# Searches, and values that are rare, or that no row has.
_BY_HAND = {
    REFUSALS: (
        "?q=NK%23studentUniqueId%3D7", "?q=none", "?q=organization%3D7", "?q=f000", "?q=none&state=all",
        "?state=all&status=418", "?resource=/ed-fi/none", "?state=resolved&problem=none", "?state=all&client=0",
        "?state=resolved&vendor=0", "?cause=00000000000000000000000000000000",
    ),
    RESULTS: (
        "?q=NK%23studentUniqueId%3D700", "?q=none", "?q=S70", "?q=T70&state=all", "?q=00000000000040008000000000000000",
        "?organization=5", "?organization=78", "?organization=78&state=all", "?organization=78&state=resolved",
        "?appeared_at__gte=2090-01-01T00:00Z", "?appeared_at__gte=2090-01-01T00:00Z&state=all",
        "?appeared_at__lt=2020-01-01T00:00Z", "?appeared_at__lt=2020-01-01T00:00Z&state=resolved",
    ),
}  # fmt: skip
SUBMISSIONS = (
    "refusals", "refusals?limit=500", "refusals?offset=1000", "refusals?state=all", "refusals?state=resolved",
    "refusals?resource=ed-fi/rare", "refusals?resource=ed-fi/none", "refusals?resource=ed-fi/none&state=all",
    "refusals?status=400", "refusals?status=418", "refusals?status=418&state=all", "refusals?problem=rare",
    "refusals?problem=rare&state=all", "refusals?naturalKey=NK%23studentUniqueId%3D70",
    "refusals?educationOrganizationId=7", "refusals?educationOrganizationId=9999&state=all",
    "refusals?since=2020-01-01T00:00:00Z", "refusals?since=2090-01-01T00:00:00Z", "refusals?minSequence=5",
    "causes", "summary",
)  # fmt: skip
VALIDATION = (
    "", "?limit=500", "?offset=1000", "?state=all", "?state=resolved", "?ruleIdentifier=R-1", "?ruleIdentifier=R-7",
    "?ruleIdentifier=R-7&limit=500", "?ruleIdentifier=R-7&state=resolved", "?category=Rare", "?category=Usual",
    "?category=Rare&state=resolved",
    "?severityDescriptor=uri://edfixvalidation.org/SeverityDescriptor%23Major+Validation+Error",
    "?educationOrganizationId=78", "?educationOrganizationId=5", "?educationOrganizationId=5&state=all",
    "?studentUniqueId=S70", "?staffUniqueId=T70", "?naturalKey=NK%23studentUniqueId%3D700", "?minChangeVersion=1",
    "?maxChangeVersion=9223372036854775806", "?message=none",
)  # fmt: skip


def pages_of_the_admin(steward: Client) -> Iterator[str]:
    """Also the last page of each list that can be reached."""
    yield from _OTHER_PAGES
    for address, by_hand in _BY_HAND.items():
        for query in (*_offered(steward, address), *by_hand):
            yield address + query


def _offered(steward: Client, address: str) -> Iterator[str]:
    """Of the choices of a filter in each state the first and the last."""
    for state in _STATES:
        page = steward.get(address + state).content.decode()
        by_names: dict[tuple[str, ...], list[str]] = {(): [state]}
        for query in re.findall(r'href="\?([^"]+)"', page):
            names = sorted(each.partition("=")[0] for each in unescape(query).split("&"))
            by_names.setdefault(tuple(names), []).append(f"?{unescape(query)}")
        for queries in by_names.values():
            yield from dict.fromkeys((queries[0], queries[-1]))
