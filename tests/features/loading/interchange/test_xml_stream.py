"""Files as streams of documents: line numbers, malformed files, and malicious XML."""

import io
import tracemalloc
from collections.abc import Iterator

import pytest

from edfi_api.features.loading.exceptions import UnreadableInterchange
from edfi_api.features.loading.interchange.document_reader import XmlElement, documents
from tests.features.loading.interchange.documents import interchange


def read(text: str) -> list[XmlElement]:
    return list(documents(io.BytesIO(text.encode())))


def test_every_child_of_the_root_is_a_document_with_its_line() -> None:
    found = read(interchange("<Student>", "<StudentUniqueId>1</StudentUniqueId>", "</Student>", '<Staff id="S1"/>'))

    assert [(element.name, element.line) for element in found] == [("Student", 3), ("Staff", 6)]
    assert (found[0].children[0].name, found[0].children[0].text, found[0].children[0].line) == (
        "StudentUniqueId",
        "1",
        4,
    )
    assert found[1].attributes == {"id": "S1"}


def test_lines_are_exact_in_long_files() -> None:
    found = read(interchange("<Student>\n</Student>\n" * 50_000))

    assert [found[0].line, found[1].line, found[-1].line] == [3, 5, 100_001]


def test_comments_and_processing_instructions_are_no_documents() -> None:
    assert [element.name for element in read(interchange("<!-- <Staff/> -->", "<?note x?>", "<Student/>"))] == [
        "Student"
    ]


def test_other_encodings_are_read_as_declared() -> None:
    text = '<?xml version="1.0" encoding="ISO-8859-1"?><InterchangeStudent><A>Müller</A></InterchangeStudent>'

    found = list(documents(io.BytesIO(text.encode("latin-1"))))

    assert found[0].text == "Müller"


def test_malformed_xml_is_reported_with_its_line() -> None:
    with pytest.raises(UnreadableInterchange) as failure:
        read(interchange("<Student>", "</Staff>"))

    assert failure.value == UnreadableInterchange(4, "malformed XML: mismatched tag")


def test_documents_before_malformed_xml_are_returned() -> None:
    found: list[str] = []

    with pytest.raises(UnreadableInterchange):
        for element in documents(io.BytesIO(interchange("<Student/>", "<Parent/>", "<Staff>").encode())):
            found.append(element.name)

    assert found == ["Student", "Parent"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "malformed XML: no element found"),
        ("{}", "malformed XML: not well-formed (invalid token)"),
        ("<svg/>", "not an Ed-Fi interchange: the root element is svg"),
        (f"<InterchangeStudent>{'<a>' * 200}", "elements are nested more than 100 levels deep"),
    ],
)
def test_a_file_that_is_no_interchange_is_unreadable(text: str, reason: str) -> None:
    with pytest.raises(UnreadableInterchange) as failure:
        read(text)

    assert failure.value == UnreadableInterchange(1, reason)


LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
BILLION_LAUGHS = f'<!DOCTYPE x [<!ENTITY l0 "lol">{LAUGHS}]>'


@pytest.mark.parametrize(
    "declaration",
    [
        BILLION_LAUGHS,
        '<!DOCTYPE x [<!ENTITY file SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE x SYSTEM "http://127.0.0.1:1/evil.dtd">',
        '<!DOCTYPE x [<!ENTITY % remote SYSTEM "http://127.0.0.1:1/evil.dtd"> %remote;]>',
        "<!DOCTYPE x>",
    ],
)
def test_a_document_type_declaration_ends_the_reading_before_any_document(declaration: str) -> None:
    text = f"<?xml version='1.0'?>\n{declaration}\n<InterchangeStudent><A>&l9;&file;</A></InterchangeStudent>"

    with pytest.raises(UnreadableInterchange) as failure:
        read(text)

    assert failure.value == UnreadableInterchange(2, "a document type declaration is not accepted")


@pytest.mark.parametrize("encoding", ["no-such", "gbk", "rot13", "cp037"])
def test_an_encoding_that_cannot_be_read_ends_the_reading(encoding: str) -> None:
    with pytest.raises(UnreadableInterchange) as failure:
        read(f"<?xml version='1.0' encoding='{encoding}'?><InterchangeStudent/>")

    assert "encoding" in failure.value.reason


def test_an_undeclared_entity_is_malformed_xml() -> None:
    with pytest.raises(UnreadableInterchange) as failure:
        read(interchange("<Student>&file;</Student>"))

    assert failure.value == UnreadableInterchange(3, "malformed XML: undefined entity")


class Endless(io.RawIOBase):
    """A file with this number of equal documents, generated on reading."""

    def __init__(self, count: int) -> None:
        self._chunks = self._text(count)

    def read(self, size: int = -1) -> bytes:
        return next(self._chunks, b"")

    def _text(self, count: int) -> Iterator[bytes]:
        yield b"<InterchangeStudent>"
        for _ in range(count // 100):
            yield b"<Student><StudentUniqueId>604821</StudentUniqueId></Student>" * 100
        yield b"</InterchangeStudent>"


def test_memory_does_not_grow_with_the_number_of_documents() -> None:
    def peak(count: int) -> int:
        tracemalloc.start()
        assert sum(1 for _ in documents(Endless(count))) == count
        _, highest = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return highest

    assert peak(20_000) < 2 * peak(500)
