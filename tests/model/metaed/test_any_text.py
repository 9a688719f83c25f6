"""Any text is compiled, or refused with the problems of the text."""

from pathlib import Path
from time import thread_time

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from edfi_api.model.metaed.compiler import check_projects
from edfi_api.model.metaed.errors import Problem
from tests.model.metaed.projects import MessagesOf, write_project
from tests.support.examples import examples

SAMPLES = Path(__file__).parents[1] / "metaed_projects"
VALID_TEXTS = [path.read_text(encoding="utf-8") for path in sorted((SAMPLES / "traffic").rglob("*.metaed"))]
WORDS = sorted(
    {word for text in VALID_TEXTS for word in text.split()}
    | {"Domain Entity", "Begin Namespace", "End Namespace", "additions", "based on", "merge", "with", "big", "[1-2]"}
    | {'"', '""', "//", ".", "-", "+", "007", "is", "Is", "_", "é", "\x00", "\ufeff", "\u2028", "\r", "}", "9" * 30}
)
bounded = settings(
    max_examples=examples(50),
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_project(tmp_path_factory.mktemp("any_text"), "Ed-Fi", "")


def problems_of(folder: Path, text: str) -> tuple[Problem, ...]:
    (folder / "model.metaed").write_bytes(text.encode("utf-8", errors="surrogatepass"))
    model, problems = check_projects([folder])
    assert (model is None) == any(problem.is_error for problem in problems)
    return problems


def assert_places_exist(text: str, problems: tuple[Problem, ...]) -> None:
    lines = text.replace("\r\n", "\n").split("\n")
    for problem in problems:
        assert 1 <= problem.place.line <= len(lines)
        assert 1 <= problem.place.column <= len(lines[problem.place.line - 1]) + 1


@bounded
@given(words=st.lists(st.sampled_from(WORDS), max_size=60), glue=st.sampled_from([" ", "\n", ""]))
@example(words=['"'], glue="")
@example(words=["Domain Entity"], glue="")
@example(words=["Begin Namespace", "A", "core"], glue=" ")
def test_any_sequence_of_words(folder: Path, words: list[str], glue: str):
    text = glue.join(words)

    assert_places_exist(text, problems_of(folder, text))


@bounded
@given(
    text=st.sampled_from(VALID_TEXTS),
    cuts=st.lists(st.tuples(st.integers(0, 2000), st.integers(0, 30), st.sampled_from(["", *WORDS])), max_size=4),
)
def test_any_damage_to_a_valid_file(folder: Path, text: str, cuts: list[tuple[int, int, str]]):
    damaged = text
    for start, length, replacement in cuts:
        position = start % (len(damaged) + 1)
        damaged = damaged[:position] + replacement + damaged[position + length :]

    assert_places_exist(damaged, problems_of(folder, damaged))


@bounded
@given(content=st.binary(max_size=200))
def test_any_bytes(folder: Path, content: bytes):
    (folder / "model.metaed").write_bytes(b'Descriptor Fuel documentation "' + content)

    model, problems = check_projects([folder])

    assert (model is None) == any(problem.is_error for problem in problems)


WINDOWS_1252 = "".join(bytes([byte]).decode("windows-1252", errors="ignore") for byte in range(0x20, 0x100))


@bounded
@given(text=st.text(st.sampled_from(WINDOWS_1252.replace('"', "")), max_size=60))
def test_any_windows_1252_in_documentation_can_be_served(folder: Path, text: str):
    (folder / "model.metaed").write_bytes(f'Descriptor Fuel documentation "{text}"'.encode("windows-1252"))

    model, problems = check_projects([folder])

    assert model is not None
    assert {problem.place.line for problem in problems} <= {1}
    assert all(31 < problem.place.column <= 31 + len(text) for problem in problems)


@pytest.mark.long
def test_a_chain_of_thousands_of_commons_is_compiled_or_refused(messages_of: MessagesOf):
    links = (
        f'Common C{number} documentation "." common C{number + 1} documentation "." is optional'
        for number in range(3000)
    )
    bases = (f'Common B{number + 1} based on B{number} documentation "." bool F{number} documentation "." is optional'
             for number in range(1500))  # fmt: skip
    ends = 'Common C3000 documentation "." bool Last documentation "." is optional ' \
           'Common B0 documentation "." bool Base documentation "." is optional\n'  # fmt: skip

    messages = messages_of(ends + "\n".join([*links, *bases]))

    assert len([message for message in messages if "is a subclass itself" in message]) == len(messages) == 1499


def test_thousands_of_errors_are_reported_in_seconds(messages_of: MessagesOf):
    broken = "\n".join(f'Domain Entity D{number} documentation "." integer I documentation' for number in range(2000))
    dead = "\n".join(f'Common C{number} documentation "." common Nothing{number} documentation "." is optional'
                     for number in range(3000))  # fmt: skip
    started = thread_time()

    messages = messages_of(f"{broken}\n{dead}")

    assert len(messages) == 5000
    assert thread_time() - started < 10
