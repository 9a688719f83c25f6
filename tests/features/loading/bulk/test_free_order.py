"""The order of documents does not matter: every permutation of a set ends with the same documents."""

import random
import re
from collections.abc import Sequence
from io import StringIO
from pathlib import Path

import orjson
import pytest
from django.core.management import call_command
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from edfi_api.core.models import Document
from edfi_api.core.storage.integrity import disagreements
from edfi_api.core.storage.stored import Outcome
from edfi_api.features.loading.bulk import Candidate, bulk_writer, free_order, write_documents
from edfi_api.features.loading.bulk.candidates import Place
from edfi_api.features.loading.bulk.dry_run import AcceptedDocuments
from edfi_api.features.loading.bulk.free_order import FreeOrder
from edfi_api.model.surface.resource import Surface
from tests.features.loading.bulk.both_ways import rolled_back, stored
from tests.features.loading.bulk.conftest import District
from tests.features.loading.demo_district.conftest import district_of

_STUDENT = re.compile(rb'"studentUniqueId":"77(\d+)"')


def load_in_free_order(
    surface: Surface, candidates: Sequence[Candidate], dry_run: AcceptedDocuments | None = None
) -> list[bool]:
    """Whether each was written, by its position."""
    placed = [candidate._replace(origin=Place(0, line)) for line, candidate in enumerate(candidates)]
    with bulk_writer(dry_run=dry_run) as writer, FreeOrder(writer, surface.resources) as free_order:
        in_load_order = sorted(placed, key=lambda each: surface.resources.index(each.resource))
        written = [*free_order.write(in_load_order), *free_order.finish()]
    results = {each.candidate.origin.line: isinstance(each.result, Outcome) for each in written}
    assert len(written) == len(results) == len(candidates)
    return [results[position] for position in range(len(candidates))]


def agencies() -> list[int]:
    documents = Document.objects.filter(resource_type__name="LocalEducationAgency")
    return sorted(documents.values_list("body__localEducationAgencyId", flat=True))


@pytest.fixture
def lines_of_the_demo_district(standard: str, surface: Surface) -> list[bytes]:
    """All of it but most of the students."""
    bodies = district_of(standard).bodies
    lines = [
        orjson.dumps({"resource": surface.by_name[name].url_path, "body": body})
        for name, bodies_of_resource in bodies.items()
        for body in bodies_of_resource
    ]
    return [line for line in lines if not any(int(found) % 20 for found in _STUDENT.findall(line))]


@pytest.mark.long
def test_the_demo_district_can_be_loaded_in_any_order(
    db, lines_of_the_demo_district: list[bytes], tmp_path: Path, validators
) -> None:
    call_command("load_descriptors", stdout=StringIO())
    lines = lines_of_the_demo_district

    def loaded(lines: Sequence[bytes]) -> tuple[list[tuple], int]:
        path = tmp_path / "permuted.jsonl"
        path.write_bytes(b"\n".join(lines))

        def load() -> tuple[list[tuple], int]:
            before = Document.objects.count()
            call_command("load_documents", str(path), "--max-refused=0", "--processes=0", stdout=StringIO())
            return stored(), Document.objects.count() - before

        return rolled_back(load)

    documents, count = loaded(lines)

    assert count > 1_500
    assert loaded(lines[::-1]) == (documents, count)
    assert loaded(random.Random(7).sample(lines, len(lines))) == (documents, count)  # noqa: S311


@st.composite
def hierarchies(draw: st.DrawFn) -> tuple[dict[int, int | None], list[int]]:
    """A parent for some of the agencies 1 to n, which may be itself, in a circle, or missing; and a permutation."""
    count = draw(st.integers(1, 12))
    parents = {number: draw(st.none() | st.integers(1, count + 2)) for number in range(1, count + 1)}
    return parents, draw(st.permutations(sorted(parents)))


def loadable(parents: dict[int, int | None]) -> set[int]:
    """The most that can be written: agencies whose line of parents ends at one without, or in a circle."""
    left = set(parents)
    while lost := {number for number in left if parents[number] is not None and parents[number] not in left}:
        left -= lost
    return left


@given(hierarchies())
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_permutation_ends_with_all_that_can_be_written(
    db, surface: Surface, district: District, validators, hierarchy: tuple[dict[int, int | None], list[int]]
) -> None:
    parents, order = hierarchy
    schools = [district.school(100 + number, agency=number) for number in order]
    candidates = [*schools, *(district.agency(number, parents[number]) for number in order)]

    def load() -> tuple[list[bool], list[int]]:
        list(write_documents(district.descriptors()))
        with AcceptedDocuments() as dry_run:
            tried = load_in_free_order(surface, candidates, dry_run)
        assert agencies() == []
        results = load_in_free_order(surface, candidates)
        assert tried == results
        assert list(disagreements(validators, "default")) == []
        return results, agencies()

    results, stored_agencies = rolled_back(load)

    assert stored_agencies == sorted(loadable(parents))
    assert results == [number in loadable(parents) for number in (*order, *order)]


def test_what_refers_to_a_circle_is_written_behind_it(db, surface: Surface, district: District) -> None:
    list(write_documents(district.descriptors()))
    parents = {1: 2, 2: 3, 3: 2, 4: 5, 5: 4, 6: 1, 7: 9, 8: 7}

    results = load_in_free_order(surface, [district.agency(number, parent) for number, parent in parents.items()])

    assert results == [True] * 6 + [False] * 2
    assert agencies() == [1, 2, 3, 4, 5, 6]


def test_many_circles_are_written_though_together_they_are_too_large_for_one_transaction(
    db, surface: Surface, district: District, monkeypatch
) -> None:
    monkeypatch.setattr(free_order, "_LARGEST_CIRCLE", 3)
    monkeypatch.setattr(free_order, "_ENOUGH_CIRCLES", 4)
    list(write_documents(district.descriptors()))
    pairs = [(2 * pair, 2 * pair + 1) for pair in range(1, 20)]
    candidates = [district.agency(one, other) for pair in pairs for one, other in (pair, pair[::-1])]

    assert all(load_in_free_order(surface, candidates))


def test_a_circle_too_large_for_one_transaction_is_refused(
    db, surface: Surface, district: District, monkeypatch
) -> None:
    monkeypatch.setattr(free_order, "_LARGEST_CIRCLE", 3)
    list(write_documents(district.descriptors()))
    parents = {1: 2, 2: 3, 3: 4, 4: 1, 5: 6, 6: 5}

    results = load_in_free_order(surface, [district.agency(number, parent) for number, parent in parents.items()])

    assert results == [False] * 4 + [True] * 2


def test_a_long_line_of_parents_is_written_in_one_pass(db, surface: Surface, district: District, monkeypatch) -> None:
    list(write_documents(district.descriptors()))
    passes = []
    one_pass = FreeOrder._pass
    monkeypatch.setattr(FreeOrder, "_pass", lambda self: passes.append(1) or one_pass(self))
    from_the_bottom = [district.agency(number, number + 1 if number < 40 else None) for number in range(1, 41)]

    assert all(load_in_free_order(surface, from_the_bottom))
    assert len(passes) == 1


@given(st.permutations(["first", "second", "third", "target"]))
@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_last_version_of_a_document_counts_whichever_had_to_wait(
    db, surface: Surface, district: District, order: list[str]
) -> None:
    """Versions keep their order among each other, wherever the target of one of them is."""
    versions = iter(["first", "second", "third"])
    names = [next(versions) if name != "target" else name for name in order]
    waits_for_target = order[0]
    candidates = [
        district.agency(2)
        if name == "target"
        else district.agency(1, parent=2 if name == waits_for_target else None, webSite=f"https://{name}.example")
        for name in names
    ]

    def load() -> tuple[list[bool], str]:
        list(write_documents(district.descriptors()))
        results = load_in_free_order(surface, candidates)
        return results, Document.objects.get(natural_key="NK#localEducationAgencyId=1").body["webSite"]

    assert rolled_back(load) == ([True] * 4, "https://third.example")


def test_bodies_that_wait_are_the_bodies_that_were_sent(db, surface: Surface, district: District) -> None:
    list(write_documents(district.descriptors()))
    sent = [district.agency(1, parent=2, webSite="https://one.example"), district.agency(2)]

    load_in_free_order(surface, sent)

    assert Document.objects.get(natural_key="NK#localEducationAgencyId=1").body == orjson.loads(sent[0].text)
