"""How candidates are cut into batches: by resource, by number, by size."""

from edfi_api.features.loading.bulk import preparation
from edfi_api.features.loading.bulk.preparation import batches as cut


def sizes(candidates):
    return [len(batch) for batch in cut(candidates)]


def test_a_batch_has_documents_of_one_resource_and_descriptors_of_any(district):
    candidates = [*district.descriptors(), district.school(1), district.period("one"), district.period("two")]

    assert sizes(candidates) == [3, 1, 2]


def test_a_batch_ends_when_it_is_full(district, monkeypatch):
    monkeypatch.setattr(preparation, "MOST_DOCUMENTS", 2)

    assert sizes(district.school(number) for number in range(5)) == [2, 2, 1]


def test_large_documents_make_small_batches(district):
    megabytes = [district.school(number, webSite="x" * 3_000_000) for number in range(7)]

    assert sizes(megabytes) == [3, 3, 1]


def test_no_more_candidates_are_taken_than_the_next_batch_needs(district, monkeypatch):
    monkeypatch.setattr(preparation, "MOST_DOCUMENTS", 2)
    taken = []
    endless = (taken.append(number) or district.school(number) for number in range(1_000_000))

    next(cut(endless))

    assert len(taken) == 3
