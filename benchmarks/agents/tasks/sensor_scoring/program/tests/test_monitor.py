import numpy as np
import torch
from alarms import Monitor
from scoring import Scorer
from sensors import DRIVERS, WINDOW, Reading, readings


def test_each_driver_gives_a_window():
    assert [len(each.values) for each in readings(1, seed=0)] == [WINDOW] * len(DRIVERS)


def test_a_jump_scores_high():
    flat = torch.randn(WINDOW, generator=torch.Generator().manual_seed(0))
    jump = flat.clone()
    jump[WINDOW // 2 :] += 6
    assert Scorer()(jump) > Scorer()(flat) + 1


def test_the_scale_of_a_sensor_does_not_matter():
    values = np.random.default_rng(0).normal(0, 1, WINDOW)
    small = Monitor().watch(Reading("a", values))
    large = Monitor().watch(Reading("a", values * 100 + 50))
    assert abs(small - large) < 1e-3


def test_whole_numbers_are_scored_as_others():
    values = np.random.default_rng(0).integers(0, 40, WINDOW)
    whole = Monitor().watch(Reading("a", values))
    assert abs(whole - Monitor().watch(Reading("a", values.astype(np.float64)))) < 1e-4


def test_alarms_are_kept():
    monitor = Monitor()
    for reading in readings(5, seed=0):
        monitor.watch(reading)
    assert monitor.alarms
    assert set(monitor.highest) == set(DRIVERS)
