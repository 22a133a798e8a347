import numpy as np
from filters import Emphasis
from meter import LoudnessMeter
from report import line, loudest
from tracks import LENGTH, make_track


def test_emphasis_keeps_the_shape():
    assert Emphasis()(make_track(0)).shape == (2, LENGTH)


def test_twice_the_amplitude_is_six_decibels():
    meter = LoudnessMeter()
    track = make_track(1)
    difference = meter(2 * track).loudness - meter(track).loudness
    assert abs(float(difference) - 6.02) < 0.05


def test_the_range_is_that_of_the_percentiles():
    meter = LoudnessMeter()
    track = make_track(2)
    quiet, loud = np.percentile(meter.block_levels(track).numpy(), [10, 95])
    assert abs(float(meter(track).range) - (loud - quiet)) < 1e-3


def test_lines_name_the_loudest():
    meter = LoudnessMeter()
    measured = {"soft": meter(0.1 * make_track(3)), "loud": meter(make_track(3))}
    assert loudest(measured) == "loud"
    assert line("soft", measured["soft"]).startswith("soft: -")
