import torch
from clouds import POINTS, make_pairs
from transport import Matcher, iterations_for


def test_partners_are_near():
    (pair,) = make_pairs(1, seed=0)
    distances = (pair.first - pair.second[pair.partners]).norm(dim=1)
    assert distances.max() < 0.15


def test_noise_takes_iterations():
    assert iterations_for(0.0) == 4
    assert iterations_for(0.3) > iterations_for(0.1)


def test_rows_and_columns_are_balanced():
    (pair,) = make_pairs(1, seed=1)
    shares = Matcher(sharpness=10.0).transport(pair.first, pair.second, 30)
    assert torch.allclose(shares.sum(dim=1), torch.ones(POINTS), atol=1e-4)
    assert torch.allclose(shares.sum(dim=0), torch.ones(POINTS), atol=1e-2)


def test_an_easy_pair_is_matched():
    (pair,) = make_pairs(1, seed=2)
    found = Matcher(sharpness=400.0).match(pair).argmax(dim=1)
    assert (found == pair.partners).float().mean() >= 0.8
