"""Ratios of times with their intervals, and what waiting for a processor does to a time."""

from math import exp, isclose, log

import pytest

from dynamo_core.backends.measuring.calls import Clocked, batch_of
from dynamo_core.shared.timing import Moment, Ratio, Waiting, ratio_of, student_t


class TestRatios:
    def test_is_the_geometric_mean_of_pairs(self) -> None:
        found = ratio_of([(10, 5), (10, 1.25)])  # twice and eight times
        assert found is not None and isclose(found.estimate, 4)

    def test_interval_is_students_of_the_logarithms(self) -> None:
        found = ratio_of([(2, 1), (4, 1), (8, 1)])
        assert found is not None and found.interval is not None
        reach = 4.303 * log(2) / 3**0.5  # the deviation of log 2, 4, 8 is log 2
        assert isclose(found.interval[0], 4 / exp(reach), rel_tol=1e-3)
        assert isclose(found.interval[1], 4 * exp(reach), rel_tol=1e-3)

    def test_one_round_has_no_interval(self) -> None:
        found = ratio_of([(2, 1)])
        assert found is not None and found.interval is None and found.differs is None

    def test_is_within_a_margin_where_both_ends_are(self) -> None:
        assert Ratio(1.0, (0.97, 1.03), 5).is_within(0.03)
        assert not Ratio(1.0, (0.97, 1.04), 5).is_within(0.03)
        assert not Ratio(1.0, (0.96, 1.03), 5).is_within(0.03)
        assert not Ratio(1.0, None, 1).is_within(0.03)

    def test_a_noisy_one_does_not_differ(self) -> None:
        found = ratio_of([(10, 5), (5, 10), (10, 9)])
        assert found is not None and found.differs is False

    def test_a_few_odd_rounds_of_many_count_little(self) -> None:
        even = [(1.3 + 0.001 * i, 1.0) for i in range(10)]
        found = ratio_of([*even, (1.3, 20.0), (9.0, 1.0)])
        assert found is not None and found.differs
        assert isclose(found.estimate, 1.305, rel_tol=0.01)

    def test_the_interval_without_the_fifth_at_each_end(self) -> None:
        found = ratio_of([(exp(0.01 * i), 1.0) for i in range(10)])
        assert found is not None and found.interval is not None
        # Of 2, 2, 2, 3, 4, 5, 6, 7, 7, 7: a deviation of 2.1731; six are left, so five degrees of freedom.
        reach = 2.5706 * 0.021731 * 10**0.5 / 6
        assert isclose(found.interval[1], exp(0.045 + reach), rel_tol=1e-5)

    def test_nothing_from_nothing(self) -> None:
        assert ratio_of([]) is None
        assert ratio_of([(0.0, 1.0)]) is None

    def test_what_differs_by_orders_of_magnitude_has_an_interval(self) -> None:
        found = ratio_of([(1e-9, 1e9), (1e9, 1e-9)])
        assert found is not None and found.interval is not None and found.low == pytest.approx(0)

    @pytest.mark.parametrize(
        ("confidence", "degrees", "quantile"),
        [(0.95, 1, 12.706), (0.95, 2, 4.303), (0.95, 20, 2.086), (0.95, 100, 1.9840), (0.99, 5, 4.0321)],
    )
    def test_students_t(self, confidence: float, degrees: int, quantile: float) -> None:
        assert isclose(student_t(confidence, degrees), quantile, abs_tol=5e-4)


class TestWaiting:
    def test_counters_of_threads_and_of_the_machine(self) -> None:
        before = Moment(10.0, {"1": (0, 0), "2": (5, 7)}, 1_000)
        after = Moment(10.1, {"1": (60_000_000, 20_000_000), "2": (6, 7), "3": (50_000_000, 0)}, 51_000)
        waiting = before.until(after)
        assert (waiting.seconds, waiting.threads) == (0.02, 2)  # thread 2 did next to nothing
        assert waiting.pressure is not None and isclose(waiting.pressure, 0.5)

    def test_what_cannot_be_read_is_not_known(self) -> None:
        assert Moment(1.0, None, None).until(Moment(2.0, None, None)) == Waiting(None, None, None)

    def test_where_threads_cannot_be_read_it_is_the_machines_pressure_in_seconds(self) -> None:
        waiting = Moment(10.0, None, 1_000).until(Moment(10.2, None, 51_000))
        assert waiting.threads is None
        assert (waiting.seconds, waiting.pressure) == pytest.approx((0.05, 0.25))

    def test_of_one_thread_it_is_left_out(self) -> None:
        found = batch_of(Clocked(0.010, 0.004, 0.006), Waiting(0.008, 1, 0.9), 2, on_cpu=True)
        assert found.counts and isclose(found.seconds, 0.006) and isclose(found.forward, 0.0024)
        assert found.busy == 0.9

    def test_never_more_than_the_thread_did_not_compute(self) -> None:
        found = batch_of(Clocked(0.010, 0.010, 0.009), Waiting(0.008, 1, None), 1, on_cpu=True)
        assert found.seconds == 0.009

    @pytest.mark.parametrize(("waited", "counts"), [(0.0001, True), (0.004, False)])
    def test_of_several_threads_such_a_batch_does_not_count(self, waited: float, counts: bool) -> None:
        found = batch_of(Clocked(0.010, 0.010, 0.005), Waiting(waited, 2, 0.5), 1, on_cpu=True)
        assert (found.seconds, found.counts) == (0.010, counts)

    def test_nor_where_a_gpu_goes_on_meanwhile(self) -> None:
        assert not batch_of(Clocked(0.010, 0.010, 0.001), Waiting(0.004, 1, 0.5), 1, on_cpu=False).counts

    def test_without_the_machines_pressure_it_is_as_busy_as_a_call_waited(self) -> None:
        """The threads waited during all calls together."""
        found = batch_of(Clocked(0.010, 0.010, 0.001), Waiting(0.020, 2, None), 4, on_cpu=True)
        assert found.busy == pytest.approx(0.5) and not found.counts
        assert batch_of(Clocked(0.010, 0.010, 0.001), Waiting(9.0, 2, None), 4, on_cpu=True).busy == 1.0

    def test_where_nothing_can_be_read_it_counts(self) -> None:
        assert batch_of(Clocked(0.010, 0.010, 0.01), Waiting(None, None, None), 1, on_cpu=True).counts
