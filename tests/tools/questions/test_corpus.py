"""The page of a hundred questions says what the demo district answers, through the protocol."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import anyio
import mcp
import pytest

from meadowlark.run.embedded_postgres import VOLATILE, EmbeddedPostgres
from tests.support.homes import TOP
from tests.support.server_processes import command
from tests.tools.questions.corpus import STUDENTS, TODAY, Question, questions

_READER = (
    "from edfi_api.features.questions.models import QuestionReader as R;"
    " R.objects.create(name='corpus', sees_everything=True)"
)


def test_there_are_a_hundred_questions_each_with_an_answer() -> None:
    found = questions()

    assert [each.number for each in found] == list(range(1, 101))
    assert len({each.words for each in found}) == 100
    assert [each.number for each in found if not each.rows] == []


def test_an_answer_is_right_in_any_order_and_form_of_its_numbers() -> None:
    question = Question(1, "?", "", [["Finch", 12.5], ["Alder", 3]])

    assert question.is_answered_by([[3, "alder"], ["Finch", 12.50]])
    assert not question.is_answered_by([["Alder", 3]])
    assert not question.is_answered_by([["Alder", 3], ["Finch", 13]])
    assert not question.is_answered_by(None)
    assert Question(2, "?", "", [[194]]).is_answered_by(194)


def test_an_assistant_is_measured_by_its_last_line() -> None:
    first, second = questions()[:2]
    answers = f"import sys; print('thinking'); print({first.rows!r} if {first.words!r} in sys.stdin.read() else 'no')"
    assistant = shlex.join([sys.executable, "-c", answers])

    measured = subprocess.run(
        [sys.executable, "-m", "tests.tools.questions", "--only", "1,2", "--assistant", assistant],
        cwd=TOP,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout

    assert "1 of 2 answers are right" in measured
    assert "WRONG" in measured and second.words in measured


@pytest.mark.long
def test_the_demo_district_answers_as_the_page_says(prepared_home, tmp_path: Path) -> None:
    home = prepared_home(tmp_path / "home")
    with EmbeddedPostgres(home, VOLATILE) as server:
        folder = str(tmp_path / "district")
        options = ["--students", str(STUDENTS), "--today", TODAY, "--output", folder]
        command(server.url, home, "generate_demo_district", *options)
        command(server.url, home, "load_documents", folder, "--max-refused", "0")
        command(server.url, home, "create_sql_views")
        command(server.url, home, "shell", "-c", _READER)
        environment = {**os.environ, "DATABASE_URL": server.url, "MEADOWLARK_HOME": str(home)}
        by_stdio = mcp.StdioServerParameters(
            command=sys.executable, args=["manage.py", "run_mcp", "--person", "corpus"], cwd=str(TOP), env=environment
        )

        async def wrong() -> dict[str, object]:
            found: dict[str, object] = {}
            async with mcp.Client(by_stdio, read_timeout_seconds=300) as client:
                for each in questions():
                    answer = await client.call_tool("ask", {"statement": each.statement})
                    rows = None if answer.is_error else answer.structured_content["contentOfDocuments"]["rows"]
                    if not each.is_answered_by(rows):
                        found[each.words] = (each.rows, rows or answer.content[0].text)
            return found

        assert anyio.run(wrong) == {}
