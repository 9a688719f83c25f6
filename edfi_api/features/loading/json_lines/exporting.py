"""Documents out of the database, in load order, in the form that `loading` reads.

The ids that clients see are exported only where that is wanted: the API does not let clients choose them. Natural keys,
and with them all references, survive without them.
"""

import gzip
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO

from django.db import DEFAULT_DB_ALIAS, connections, transaction
from psycopg import ServerCursor
from tqdm import tqdm

from edfi_api.core.storage import resource_types
from edfi_api.features.loading.files import name_in_errors
from edfi_api.model.surface.resource import Resource, ResourceName, Surface

# A document may be of megabytes.
_PAGE = 100
_PRESENT = "SELECT id FROM resource_type t WHERE EXISTS (SELECT FROM document d WHERE d.resource_type_id = t.id)"
_BODIES = "SELECT body::text FROM document WHERE resource_type_id = %s ORDER BY id"
_WITH_IDS = _BODIES.replace("body::text", "(jsonb_build_object('id', document_uuid) || body)::text")


# Takes all documents of a resource, as JSON texts, some at a time.
WriteResource = Callable[[Resource, Iterable[Sequence[str]]], None]
# Higher levels cost more time than they save space.
_GZIP_LEVEL = 4


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The documents of the database as they stood at one point in time, however long the reading takes.

    `present` are the resources that have documents, such as are served no longer among them.
    """

    present: frozenset[ResourceName]
    using: str

    def bodies(self, resource: Resource, has_ids: bool = False) -> Iterator[list[str]]:
        """The JSON texts of all documents in the order of their insertion, some at a time; with their ids if wanted."""
        number = resource_types.numbers(self.using)[resource.name]
        with ServerCursor(connections[self.using].connection, "export") as cursor:
            cursor.execute(_WITH_IDS if has_ids else _BODIES, [number])
            while rows := cursor.fetchmany(_PAGE):
                yield [text for (text,) in rows]


@contextmanager
def snapshot(using: str) -> Iterator[Snapshot]:
    """Readers and writers go on undisturbed; only cleaning up after them waits for the end."""
    names = resource_types.names(using)
    with transaction.atomic(using), connections[using].cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        present = cursor.execute(_PRESENT).fetchall()
        yield Snapshot(frozenset(names[number] for (number,) in present), using)


def export_documents(
    resources: Iterable[Resource], write: WriteResource, using: str = DEFAULT_DB_ALIAS, *, has_ids: bool = False
) -> Counter[ResourceName]:
    """Hand the documents of each resource that has any to `write`, all as they stood at one point in time; how many
    there were. On a terminal, progress is shown."""
    counts: Counter[ResourceName] = Counter()
    with snapshot(using) as documents, tqdm(unit=" documents", disable=None) as progress:
        for resource in resources:
            if resource.name in documents.present:
                progress.set_description_str(resource.endpoint)
                write(resource, _counted(documents.bodies(resource, has_ids), resource, counts, progress))
    return counts


def resources_left_out(surface: Surface, using: str = DEFAULT_DB_ALIAS) -> list[str]:
    """Return the resources that have documents in the database, but no place in the surface: no rules, no place in the
    load order.
    """
    with snapshot(using) as documents:
        return sorted(name.resource for name in documents.present if name not in surface.by_name)


def _counted(
    pages: Iterable[list[str]], resource: Resource, counts: Counter[ResourceName], progress: tqdm
) -> Iterator[list[str]]:
    for page in pages:
        counts[resource.name] += len(page)
        progress.update(len(page))
        yield page


@contextmanager
def write_to_stream(stream: BinaryIO, name: str = "standard output") -> Iterator[WriteResource]:
    """Yield what writes to a stream; each line carries its resource."""

    def write(resource: Resource, pages: Iterable[Sequence[str]]) -> None:
        beginning = f'{{"resource": "{resource.url_path}", "body": '
        for page in pages:
            stream.write("".join([f"{beginning}{body}}}\n" for body in page]).encode())

    with name_in_errors(name):
        yield write
        stream.flush()


@contextmanager
def write_to_folder(folder: Path, resources: Iterable[Resource]) -> Iterator[WriteResource]:
    """Yield what writes a compressed file for each resource, named after it; each line is a body."""

    def write(resource: Resource, pages: Iterable[Sequence[str]]) -> None:
        with gzip.open(growing(resource), "wb", _GZIP_LEVEL) as file:
            for page in pages:
                file.write("".join([f"{body}\n" for body in page]).encode())

    with whole_files(folder, resources, ".jsonl.gz") as growing:
        yield write


@contextmanager
def whole_files(folder: Path, resources: Iterable[Resource], suffix: str) -> Iterator[Callable[[Resource], Path]]:
    """Yield a function that says where to write the file of a resource. All files get their names at the end, when they
    are on disk; until then, and if there is none, what an earlier export has left stays as it was. Then nothing of it
    stays: not of resources without documents either.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with name_in_errors(folder), TemporaryDirectory(prefix=".export-", dir=folder) as hidden:

        def growing(resource: Resource) -> Path:
            return Path(hidden, f"{resource.project_endpoint}.{resource.endpoint}{suffix}.part")

        yield growing
        paths = [growing(resource) for resource in resources]
        for path in filter(Path.exists, paths):
            _bring_to_disk(path)
        for path in paths:
            final = folder / path.stem
            if path.exists():
                path.replace(final)
            else:
                final.unlink(missing_ok=True)
        _bring_to_disk(folder)


def _bring_to_disk(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
