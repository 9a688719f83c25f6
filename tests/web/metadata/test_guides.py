"""`/guides`: the pages of meadowlark/docs/ in a browser."""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urldefrag

import lxml.html
import pytest
from django.conf import settings

from edfi_api.site.guides import BASE, guides, rendered
from tests.conftest import http

DOCS = Path(__file__).parents[3] / "meadowlark/docs"
ADDRESSES = ["/guides", "/guides/all", *(f"/guides/{guide}" for guide in sorted(guides()._pages) if guide)]


def page(address: str) -> lxml.html.HtmlElement:
    response = http().get(address)
    assert response.status_code == 200, address
    assert response["Content-Security-Policy"] == settings.CONTENT_SECURITY_POLICY
    assert response["Content-Type"] == "text/html; charset=utf-8"
    return lxml.html.fromstring(response.content)


@pytest.fixture(scope="module")
def pages() -> dict[str, lxml.html.HtmlElement]:
    return {address: page(address) for address in ADDRESSES}


def test_every_page_is_served_and_linked(pages: dict[str, lxml.html.HtmlElement]) -> None:
    files = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")}
    linked = {urldefrag(link).url for each in pages.values() for link in each.xpath("//a/@href")}

    assert len(pages) == len(files) + 1
    assert set(ADDRESSES) <= linked


def test_links_and_pictures_lead_somewhere(pages: dict[str, lxml.html.HtmlElement]) -> None:
    assert list(_dangling(pages)) == []


def _dangling(pages: dict[str, lxml.html.HtmlElement]) -> Iterator[str]:
    known = {address: set(each.xpath("//@id")) for address, each in pages.items()}
    pictures, notebooks = (
        {f"/guides/{path.relative_to(DOCS).as_posix()}" for path in DOCS.rglob(pattern)}
        for pattern in ("*.png", "*.ipynb")
    )
    for address, each in pages.items():
        for link in each.xpath("//main//a/@href"):
            target, fragment = urldefrag(link)
            target = target or address
            if (
                target.startswith("/guides")
                and target not in notebooks
                and (target not in known or (fragment and fragment not in known[target] and address != "/guides/all"))
            ):
                yield f"{address}: {link}"
        yield from (f"{address}: {source}" for source in each.xpath("//main//img/@src") if source not in pictures)


def test_pages_have_nothing_that_the_policy_refuses(pages: dict[str, lxml.html.HtmlElement]) -> None:
    for address, each in pages.items():
        assert (address, each.xpath("//@style | //script[not(@src)] | //style")) == (address, [])


def test_ids_are_unique_also_on_one_page(pages: dict[str, lxml.html.HtmlElement]) -> None:
    for address, each in pages.items():
        ids = each.xpath("//@id")
        assert (address, sorted(ids)) == (address, sorted(set(ids)))


def test_all_guides_are_on_one_page(pages: dict[str, lxml.html.HtmlElement]) -> None:
    text = pages["/guides/all"].text_content()

    assert "Calling the API" in text
    assert "MEADOWLARK_MAX_BODY_BYTES" in text


def test_pictures_are_served() -> None:
    response = http().get("/guides/start/pictures/home.png")

    assert response["Content-Type"] == "image/png"
    assert b"".join(response.streaming_content).startswith(b"\x89PNG")


def test_the_notebook_of_the_questions_is_served(pages: dict[str, lxml.html.HtmlElement]) -> None:
    response = http().get("/guides/use/thirty-questions.ipynb")

    assert "/guides/use/thirty-questions.ipynb" in pages["/guides/use/thirty-questions"].xpath("//main//a/@href")
    assert response["Content-Type"] == "application/x-ipynb+json"
    assert b"".join(response.streaming_content) == (DOCS / "use/thirty-questions.ipynb").read_bytes()


@pytest.mark.parametrize("path", ["nothing", "../settings.py", "use/../../settings.py", "start/pictures/nothing.png"])
def test_nothing_else_is_served(path: str) -> None:
    assert http().get(f"/guides/{path}").status_code == 404


def test_a_browser_gets_a_page_where_there_is_no_guide() -> None:
    browser = http().get("/guides/nope", HTTP_ACCEPT="text/html,application/xhtml+xml")
    program = http().get("/guides/nope", HTTP_ACCEPT="application/json")

    assert (browser.status_code, browser["Content-Type"].partition(";")[0]) == (404, "text/html")
    assert 'Back to the <a href="/">start</a>' in browser.content.decode()
    assert (program.status_code, program["Content-Type"]) == (404, "application/problem+json")


def test_html_in_a_page_is_text() -> None:
    html = rendered('# A\n\n<script>alert(1)</script> [x](javascript:alert%281%29) "@guides', "use", frozenset()).html

    assert "<script" not in html
    assert "javascript:alert" not in re.sub(r"&quot;|<[^>]*>", "", html) or "href" not in html
    assert BASE not in html
