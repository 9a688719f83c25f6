"""Pauses between attempts grow, up to a bound, however long an outage lasts."""

from edfi_api.common.back_off import BackOff


def test_each_pause_is_twice_the_one_before_up_to_the_longest() -> None:
    back_off = BackOff(10, 60)

    assert [back_off.pause() for _ in range(5)] == [10, 20, 40, 60, 60]
    assert back_off.failures == 5
    back_off.reset()
    assert back_off.pause() == 10


def test_an_outage_of_days_keeps_the_longest_pause() -> None:
    back_off = BackOff(0.5, 60.0)

    assert {back_off.pause() for _ in range(5_000)} == {0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0}
