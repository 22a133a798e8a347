import torch
from bodies import Moons, make_moons, pull
from integrator import Integrator


def test_the_pull_falls_with_the_square_of_the_distance():
    near, far = pull(torch.tensor([[1.0, 0.0], [0.0, 2.0]])).square().sum(dim=1).sqrt()
    assert torch.isclose(near, 4 * far)


def test_a_circle_stays_a_circle():
    moon = Moons(torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 1.0]]))
    integrator = Integrator(moon, step=0.01)
    integrator.run(20)
    assert torch.allclose(integrator.moons.places.norm(), torch.tensor(1.0), atol=1e-4)


def test_an_energy_for_each_step():
    integrator = Integrator(make_moons(3, seed=0))
    integrator.run(4)
    integrator.run(3)
    assert len(integrator.energies) == 7
    energies = torch.stack(integrator.energies)
    assert torch.allclose(energies, energies[0].expand(7), rtol=1e-2)
