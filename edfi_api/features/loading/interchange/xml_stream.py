"""An interchange file → its documents as small element trees, one at a time.

Only one document is in memory at any time, however large the file. The parser is expat from the standard library: it
has the line of every element (libxml2 does not beyond line 65,535), and it reports a document type declaration before
it processes the content. Interchange XML has none, and entity expansion and external entities need one, so a
declaration ends the reading.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO, NoReturn
from xml.parsers import expat

from edfi_api.features.loading.interchange.exceptions import UnreadableInterchange
from edfi_api.model.surface.naming import ROOT_PREFIX

_CHUNK_BYTES = 1 << 16
_NAMESPACE_SEPARATOR = " "
# Real documents are less than twenty levels deep.
_DEEPEST = 100


@dataclass(slots=True)
class XmlElement:
    """An element without its namespace. `text` is the text before the first child."""

    name: str
    line: int
    attributes: dict[str, str]
    text: str = ""
    children: list["XmlElement"] = field(default_factory=list)


def documents(file: BinaryIO) -> Iterator[XmlElement]:
    """The elements directly below the root, in order.

    Raises UnreadableFile where the text is no valid interchange; the documents before that are yielded first.
    """
    builder = _TreeBuilder()
    while chunk := file.read(_CHUNK_BYTES):
        yield from builder.feed(chunk)
        builder.raise_failure()
    yield from builder.feed(b"", is_last=True)
    builder.raise_failure()


class _TreeBuilder:
    """Parses the text in chunks and collects complete documents."""

    def __init__(self) -> None:
        self._open: list[XmlElement] = []
        self._complete: list[XmlElement] = []
        self._failure: UnreadableInterchange | None = None
        self._parser = expat.ParserCreate(namespace_separator=_NAMESPACE_SEPARATOR)
        self._parser.buffer_text = True
        self._parser.StartDoctypeDeclHandler = self._doctype
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._text

    def feed(self, chunk: bytes, *, is_last: bool = False) -> list[XmlElement]:
        """The documents that this chunk completes, including those before a failure."""
        try:
            self._parser.Parse(chunk, is_last)
        except expat.ExpatError as error:
            self._failure = UnreadableInterchange(error.lineno, f"malformed XML: {expat.ErrorString(error.code)}")
        except UnreadableInterchange as failure:
            self._failure = failure
        except (LookupError, ValueError) as error:  # An encoding that Python or expat does not support.
            self._failure = self._unreadable(str(error))
        complete, self._complete = self._complete, []
        return complete

    def raise_failure(self) -> None:
        if self._failure is not None:
            raise self._failure

    def _doctype(self, *_: object) -> NoReturn:
        raise self._unreadable("a document type declaration is not accepted")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        local_name = name.rpartition(_NAMESPACE_SEPARATOR)[2]
        if not self._open and not local_name.startswith(ROOT_PREFIX):
            raise self._unreadable(f"not an Ed-Fi interchange: the root element is {local_name}")
        if len(self._open) == _DEEPEST:
            raise self._unreadable(f"elements are nested more than {_DEEPEST} levels deep")
        element = XmlElement(local_name, self._parser.CurrentLineNumber, attributes)
        if len(self._open) > 1:
            self._open[-1].children.append(element)
        self._open.append(element)

    def _end(self, _: str) -> None:
        element = self._open.pop()
        if len(self._open) == 1:
            self._complete.append(element)

    def _text(self, text: str) -> None:
        if not self._open[-1].children:
            self._open[-1].text += text

    def _unreadable(self, reason: str) -> UnreadableInterchange:
        return UnreadableInterchange(self._parser.CurrentLineNumber, reason)
