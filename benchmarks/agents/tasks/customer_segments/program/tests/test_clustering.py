import torch
from clustering import Clustering
from customers import make_customers


def test_two_heaps_are_found():
    heap = torch.tensor([[0.0, 0.0], [0.2, 0.0], [0.0, 0.2]])
    points = torch.cat([heap[:1], heap[:1] + 9, heap, heap + 9])
    found = Clustering(2).fit(points)
    assert sorted(round(x) for x, _ in found.centres.tolist()) == [0, 9]


def test_centres_that_stay_end_the_rounds():
    points = torch.tensor([[0.0], [8.0]])
    assert Clustering(2).fit(points).rounds == 1


def test_rounds_are_limited():
    assert Clustering(4, most_rounds=2).fit(make_customers(50, seed=1)).rounds == 2


def test_customers_have_three_figures():
    assert make_customers(7, seed=0).shape == (7, 3)
