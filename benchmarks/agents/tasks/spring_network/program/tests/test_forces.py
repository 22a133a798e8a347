import torch
from chain import MASSES, make_states, true_forces
from energy import EnergyNetwork, forces
from train import Fit


def test_a_chain_at_rest_has_no_forces():
    assert true_forces(torch.zeros(2, MASSES)).abs().max() == 0


def test_forces_are_the_slope_of_the_energy():
    torch.manual_seed(0)
    network = EnergyNetwork().double()
    places = make_states(1, seed=0).double().requires_grad_()
    found = forces(network, places)[0, 2]
    step = torch.zeros(MASSES, dtype=torch.float64)
    step[2] = 1e-5
    slope = (network(places + step) - network(places - step)) / 2e-5
    assert torch.allclose(found, -slope, atol=1e-6)


def test_training_lowers_the_error():
    torch.manual_seed(0)
    fit = Fit(EnergyNetwork())
    places = make_states(32, seed=1)
    losses = [fit.step(places, true_forces(places)) for _ in range(15)]
    assert losses[-1] < losses[0]
