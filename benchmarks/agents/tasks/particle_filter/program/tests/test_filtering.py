import torch
from filtering import ParticleFilter, likelihood, moved, systematic
from robot import BEACONS, walk
from state import scattered


def test_drawing_follows_the_weights():
    drawn = systematic(torch.tensor([0.5, 0.0, 0.25, 0.25]), torch.tensor(0.5))
    assert drawn.tolist() == [0, 0, 2, 3]


def test_the_true_place_is_most_likely():
    place = torch.tensor([[4.0, 3.0]])
    distances = (BEACONS - place).norm(dim=1)
    assert likelihood(torch.cat([place + 1, place, place - 1]), distances).argmax() == 1


def test_particles_stay_in_the_hall():
    assert moved(torch.tensor([[10.9, 0.0]]), torch.tensor([3.0, 0.0]), torch.zeros(1, 2))[0, 0] == 11.0


def test_the_robot_is_found():
    followed = ParticleFilter(scattered(400, seed=1), seed=1)
    for seen in walk(12, seed=1):
        followed.observe(seen.motion, seen.distances)
    assert (followed.belief.mean() - seen.position).norm() < 0.5
    assert followed.belief.effective_count() > 300
    assert not torch.equal(followed.before.positions, followed.belief.positions)
