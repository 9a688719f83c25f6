"""Sources of JSON Lines → lines, and lines → candidates; what is wrong with one is told, and the next one read."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from edfi_api.documents.bulk import Candidate
from edfi_api.interchange.results import REFUSED, LoadResult, Refused, reason_in_words
from edfi_api.json_lines.exceptions import UnknownResource, UnreadableFile
from edfi_api.json_lines.lines import lines
from edfi_api.json_lines.sources import Source, resource_called
from edfi_api.json_lines.spool import Line
from edfi_api.surface.resource import Resource, Surface
from edfi_api.viewsets.exceptions import DuplicateProperty, MalformedJson
from edfi_api.viewsets.parsers import parse_object

OnRefusal = Callable[[Refused], None]


@dataclass(frozen=True, slots=True)
class Told:
    """Where refusals go: into the counts, and to whoever wants to know of each."""

    result: LoadResult
    on_refusal: OnRefusal

    def refused(self, refused: Refused) -> None:
        self.result.count(refused.resource, REFUSED)
        self.on_refusal(refused)

    def unreadable(self, refused: Refused) -> None:
        self.result.unreadable.append(refused)
        self.on_refusal(refused)


@dataclass(frozen=True, slots=True)
class SourceReader:
    """Reads the sources of one load, which are known by their number in it."""

    surface: Surface
    sources: Sequence[Source]
    longest_line: int
    told: Told

    def texts(self, number: int) -> Iterator[tuple[int, bytes]]:
        """Line numbers and texts of a source, to its end or to where it cannot be read any further."""
        source = self.sources[number]
        try:
            with source.open() as file:
                for line, text in lines(file, self.longest_line):
                    if text is None:
                        self.refuse(number, line, source.resource, f"longer than {self.longest_line} bytes")
                    else:
                        yield line, text
        except UnreadableFile as failure:
            self.told.unreadable(Refused(str(source), failure.line, None, failure.reason))
        except OSError as error:
            self.told.unreadable(Refused(str(source), None, None, error.strerror or str(error)))

    def with_resources(self, number: int) -> Iterator[tuple[int, bytes, Resource]]:
        """The same of a source whose lines carry their resource."""
        for line, text in self.texts(number):
            try:
                resource = self._resource_of(text)
            except (MalformedJson, DuplicateProperty) as error:
                self.refuse(number, line, None, reason_in_words(error))
            except UnknownResource as error:
                self.refuse(number, line, None, f"the API offers no {error.name}")
            else:
                yield line, text, resource

    def candidate(self, line: Line, resource: Resource) -> Candidate | None:
        """None if the line is refused."""
        source = self.sources[line.source]
        try:
            value = parse_object(line.text)
        except (MalformedJson, DuplicateProperty) as error:
            self.refuse(line.source, line.number, resource, reason_in_words(error))
            return None
        return Candidate(resource, value if source.resource else value["body"], f"{source}:{line.number}")

    def refuse(self, source: int, line: int, resource: Resource | None, reason: str) -> None:
        name = resource.name if resource is not None else None
        self.told.refused(Refused(str(self.sources[source]), line, name, reason))

    def _resource_of(self, text: bytes) -> Resource:
        match parse_object(text):
            case {"resource": str(name), "body": dict()}:
                return resource_called(self.surface, name)
        raise MalformedJson('{"resource": "/ed-fi/students", "body": {...}} is expected')
