import torch
from network import Regressor
from rounding import RoundToGrid, quantised
from train import fit, make_samples


def test_values_are_on_the_grid():
    values = quantised(torch.tensor([0.1, 0.9, -3.0]), bits=3)
    assert torch.allclose(values, torch.tensor([0.0, 1.0, -1.0]))


def test_the_gradient_passes_inside_the_limits():
    values = torch.tensor([0.4, 5.0], requires_grad=True)
    quantised(values, bits=4).sum().backward()
    assert values.grad.tolist() == [1.0, 0.0]


def test_training_lowers_the_loss():
    torch.manual_seed(0)
    losses = fit(Regressor(3), *make_samples(32, seed=0), steps=8)
    assert losses[-1] < losses[0]


def test_roundings_are_counted_in_steps():
    torch.manual_seed(0)
    before = RoundToGrid.roundings
    fit(Regressor(3), *make_samples(8, seed=0), steps=3)
    assert RoundToGrid.roundings - before == 6
