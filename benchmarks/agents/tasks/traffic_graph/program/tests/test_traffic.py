import torch
from layers import mean_of_neighbours
from model import TrafficModel
from roads import Town, make_town, make_traffic


def test_a_ring_reaches_every_crossing():
    town = make_town(6, seed=0)
    assert set(town.end.tolist()) == set(range(6))
    assert len(town.start) == len(town.end) == 12


def test_the_mean_counts_roads():
    town = Town(3, start=torch.tensor([0, 1]), end=torch.tensor([2, 2]))
    mean = mean_of_neighbours(torch.tensor([[2.0], [4.0], [9.0]]), town)
    assert mean.flatten().tolist() == [0.0, 0.0, 3.0]


def test_a_forecast_for_each_crossing():
    torch.manual_seed(0)
    town = make_town(5, seed=1)
    (traffic,) = make_traffic(town, 1, seed=1)
    assert TrafficModel()(traffic, town).shape == (5,)
