"""What the page of the search finds, as a user sees it."""

import re
from collections.abc import Callable
from html import unescape

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from tests.support.admin_users import client_of

Found = dict[str, list[str]]


@pytest.fixture
def steward(db: None) -> Client:
    """A user of the admin with all permissions."""
    return client_of(User.objects.create(username="steward", is_staff=True, is_superuser=True))


@pytest.fixture
def user_with(db: None) -> Callable[..., Client]:
    """A user with these permissions alone."""

    def user(*permissions: str) -> Client:
        created = User.objects.create(username="-".join(permissions), is_staff=True)
        created.user_permissions.set(Permission.objects.filter(codename__in=permissions))
        return client_of(created)

    return user


def search(client: Client, text: str) -> str:
    """The page of a search."""
    response = client.get("/admin/search/", {"q": text})
    assert response.status_code == 200
    return response.content.decode()


def found(client: Client, text: str) -> Found:
    """The titles that are found, by the headings above them."""
    sections = re.findall(r"<section.*?<h2[^>]*>(.*?)</h2>(.*?)</section>", search(client, text), re.DOTALL)
    return {
        heading: [unescape(title) for title in re.findall(r"<a [^>]*><bdi>(.*?)</bdi></a>", rest)]
        for heading, rest in sections
    }


def answer(client: Client, text: str) -> str:
    """The sentence above what is found, without its links."""
    sentences = re.findall(r'<p class="answer">(.*?)</p>', search(client, text), re.DOTALL)
    return " ".join(unescape(re.sub("<[^>]+>", "", each)) for each in sentences)
