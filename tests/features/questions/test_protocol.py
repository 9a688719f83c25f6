"""The SDK's own client asks: over standard input and output, and over HTTP with bearer tokens."""

from __future__ import annotations

import os
import socket
import sys
import threading
from collections.abc import Iterator
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import anyio
import httpx
import mcp
import pytest
import uvicorn
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.utils import timezone
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

from edfi_api.features.questions.http import application
from edfi_api.features.questions.models import Question, QuestionReader
from edfi_api.features.questions.people import Place
from edfi_api.site.sign_in.models import AdminIdentity
from tests.core.security.federation.identity_provider import AUDIENCE, IdentityProvider, ec_key, write_issuers
from tests.support.databases import database_url
from tests.support.ports import ADDRESS

TOP = Path(__file__).parents[3]
STUDENTS = {"statement": "SELECT studentuniqueid FROM edfi.student ORDER BY 1"}


async def asked(client: mcp.Client) -> dict[str, Any]:
    """What a client sees."""
    tools = await client.list_tools()
    answer = await client.call_tool("ask", STUDENTS)
    refused = await client.call_tool("ask", {"statement": "SELECT * FROM public.document"})
    picture = await client.call_tool("plot", {"title": "t", "labels": ["a"], "series": {"s": [1]}})
    resources = await client.list_resources()
    templates = await client.list_resource_templates()
    view = await client.read_resource("meadowlark://views/edfi.school")
    prompts = await client.list_prompts()
    prompt = await client.get_prompt("question_1", {"school": "11"})
    return {
        "tools": {tool.name: tool.annotations.read_only_hint for tool in tools.tools if tool.annotations},
        "rows": answer.structured_content["contentOfDocuments"]["rows"],
        "refused": (refused.is_error, "permission denied" in refused.content[0].text),
        "picture": picture.content[1].resource.mime_type,
        "resources": {str(each.uri) for each in resources.resources} >= {"meadowlark://domains/Enrollment"},
        "templates": len(templates.resource_templates),
        "view": view.contents[0].text.partition(":")[0],
        "prompts": (len(prompts.prompts), prompts.prompts[0].arguments[0].name),
        "prompt": "school: 11" in prompt.messages[0].content.text,
    }


EXPECTED = {
    "tools": {"describe": True, "find": True, "ask": True, "count": True, "plot": True},
    "rows": [["C"]],
    "refused": (True, True),
    "picture": "image/svg+xml",
    "resources": True,
    "templates": 2,
    "view": "View edfi.school",
    "prompts": (30, "school"),
    "prompt": True,
}


def test_one_person_asks_over_standard_input_and_output(person) -> None:
    person("by stdio", 21)
    server = mcp.StdioServerParameters(
        command=sys.executable,
        args=["manage.py", "run_mcp", "--person", "by stdio"],
        cwd=str(TOP),
        env={**os.environ, "DATABASE_URL": database_url()},
    )

    async def ask() -> dict[str, Any]:
        async with mcp.Client(server, read_timeout_seconds=120) as client:
            return await asked(client)

    assert anyio.run(ask) == EXPECTED
    assert Question.objects.filter(person="by stdio", outcome="answered").count() == 1


@pytest.fixture
def url(transactional_db) -> Iterator[str]:
    """The address of a server for many people."""
    with socket.socket() as listening:
        listening.bind((ADDRESS, 0))
        listening.listen()
        address = f"http://{ADDRESS}:{listening.getsockname()[1]}/mcp"
        config = uvicorn.Config(application(Place("default"), address), log_config=None, lifespan="on")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        try:
            yield address
        finally:
            server.should_exit = True
            thread.join(10)


def token_of(name: str) -> str:
    printed = StringIO()
    call_command("issue_question_token", name, stdout=printed)
    return printed.getvalue().strip()


async def asked_over_http(url: str, token: str, mode: str = "auto") -> dict[str, Any]:
    client = create_mcp_http_client(headers={"Authorization": f"Bearer {token}"})
    async with client, mcp.Client(streamable_http_client(url, http_client=client), mode=mode) as questions:
        return await asked(questions)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_many_people_ask_over_http_each_with_a_token_of_their_own(person, url: str, mode: str) -> None:
    person("of school 21", 21)
    person("of school 12", 12)
    tokens = [token_of("of school 21"), token_of("of school 12")]

    first, second = (anyio.run(asked_over_http, url, token, mode) for token in tokens)

    assert first == EXPECTED
    assert second == EXPECTED | {"rows": [["B"]]}
    assert sorted(Question.objects.filter(outcome="answered").values_list("person", "students")) == [
        ("of school 12", ["B"]),
        ("of school 21", ["C"]),
    ]


def test_http_is_closed_to_everybody_else(person, url: str) -> None:
    person("asker", 21)
    token = token_of("asker")
    body = {"jsonrpc": "2.0", "id": 1, "method": "ping"}

    def status(**headers: str) -> int:
        given = {"Accept": "application/json, text/event-stream", "Authorization": f"Bearer {token}", **headers}
        return httpx.post(url, json=body, headers=given).status_code

    assert httpx.post(url, json=body).status_code == 401
    assert status(Authorization="Bearer another") == 401
    assert status(Authorization="Bearer a.b.c") == 401
    assert status(Origin="https://evil.example") == 403
    assert status(Host="evil.example") == 421
    assert status(Origin="") == 400  # Only a session is missing.
    new_token = token_of("asker")
    assert status() == 401
    token = new_token
    assert status() == 400
    user = User.objects.create_user("leaves", is_active=False)
    QuestionReader.objects.filter(name="asker").update(user=user)
    assert status() == 401
    QuestionReader.objects.filter(name="asker").update(user=None, token_expires_at=timezone.now() - timedelta(1))
    assert status() == 401


def test_the_command_says_who_may_not_ask_and_how_to_install_the_sdk(person, monkeypatch) -> None:
    with pytest.raises(CommandError, match="nobody may not ask: the admin has a page of readers of questions"):
        call_command("run_mcp", "--person", "nobody")
    with pytest.raises(CommandError, match="8765 is not an address such as"):
        call_command("run_mcp", "--http", "8765")
    monkeypatch.delitem(sys.modules, "edfi_api.features.questions.server")
    monkeypatch.setitem(sys.modules, "mcp.server.lowlevel", None)
    with pytest.raises(CommandError, match=r"pip install --require-hashes -r requirements/mcp\.lock"):
        call_command("run_mcp", "--person", "nobody")


def test_people_of_an_identity_provider_are_recognized_by_issuer_and_subject(person, settings, tmp_path: Path) -> None:
    with IdentityProvider(published=[ec_key().public()]) as provider:

        def accept(use: str) -> None:
            entry = {"issuer": provider.issuer, "audience": AUDIENCE, "algorithms": ["ES256"], "use": [use]}
            path = write_issuers(tmp_path / f"{use}.json", entry)
            settings.EDFI_API = settings.EDFI_API | {"OIDC_ISSUERS": path}

        user = User.objects.create_user("of the admin")
        AdminIdentity.objects.create(user=user, issuer=provider.issuer, subject="admin-7")
        person("by subject", 21, issuer=provider.issuer, subject="analyst-7")
        person("by user", 12, user=user)
        person("of another issuer", 12, issuer="https://id.example.org", subject="stranger-7")

        def name(**claims: Any) -> str | None:
            reader = Place("default").reader_of_token(provider.token(**claims))
            return None if reader is None else reader.name

        accept("questions")
        assert name(sub="analyst-7") == "by subject"
        assert name(sub="admin-7") == "by user"
        assert name(sub="stranger-7") is None
        assert name(sub="") is None
        assert name(sub="analyst-7", aud="https://other.example.org") is None
        assert name(sub="analyst-7", exp=1) is None
        # Tokens of clients of the API are none of people.
        accept("data")
        assert name(sub="analyst-7") is None
