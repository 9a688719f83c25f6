"""Which rows of a batch are refused, from their ids alone."""

from edfi_api.core.storage.sets.conflicts import resolve, resolve_together

A, B, C, ABOVE = b"a", b"b", b"c", b"above"


def test_rows_that_have_nothing_to_do_with_each_other_are_written_in_one_pass():
    conflicts = resolve({0: [A], 1: [B], 2: [C]}, {}, set())

    assert conflicts.pass_sizes(3) == [3]


def test_repetitions_come_in_later_passes():
    conflicts = resolve({0: [A], 1: [B], 2: [A], 3: [A], 4: [B]}, {}, set())

    assert conflicts.later == {2: 2, 3: 3, 4: 2}
    assert conflicts.pass_sizes(5) == [2, 2, 1]


def test_what_a_refused_row_would_have_provided_is_missing():
    conflicts = resolve({0: [A], 1: [B], 2: [C]}, {0: {b"none"}, 1: {A}, 2: {C}}, set())

    assert conflicts.missing == {0: {b"none"}, 1: {A}}


def test_a_superclass_identity_belongs_to_the_first_that_is_written():
    conflicts = resolve({0: [A, ABOVE], 1: [B, ABOVE], 2: [A, ABOVE]}, {}, set())

    assert conflicts.duplicates == {1}
    assert conflicts.later == {2: 2}


def test_a_row_whose_superclass_identity_is_stored_provides_nothing():
    conflicts = resolve({0: [A, ABOVE], 1: [B]}, {1: {ABOVE}}, {0})

    assert conflicts.missing == {1: {ABOVE}}


def test_together_rows_may_refer_to_each_other_but_not_to_what_is_refused():
    ids = {0: [A], 1: [B], 2: [C], 3: [b"d"]}

    conflicts = resolve_together(ids, {0: {B}, 1: {A}, 2: {b"none"}, 3: {C}}, set())

    assert conflicts.missing == {2: {b"none"}, 3: {C}}
    assert conflicts.pass_sizes(4) == [2]
