import numpy as np
import torch
from convert import make_readings
from pipeline import Oven
from tables import TYPE_K


def test_points_of_the_table_are_met():
    found = TYPE_K.temperature(np.array([0.0, 4.096, 7.138]))
    assert np.allclose(found, [0.0, 100.0, 175.0])


def test_the_table_ends_at_its_ends():
    assert TYPE_K.temperature(np.array([-9.0, 99.0])).tolist() == [-50.0, 300.0]


def test_constant_volts_are_one_temperature():
    readings = torch.full((3, 10), 0.01024)
    temperatures = Oven(TYPE_K).convert(readings)
    assert torch.allclose(temperatures[1:-1], torch.tensor(100.0), atol=1e-2)


def test_an_outlier_hardly_counts():
    readings = make_readings(0, seed=0)
    readings[0] = 1.0
    assert Oven(TYPE_K).convert(readings).max() < 299
