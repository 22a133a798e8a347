import random

import torch
from machines import make_hall
from player import Player


def test_a_machine_pays_by_its_chance():
    hall = make_hall(4, seed=1)
    assert hall.chances.max() == 0.7
    assert hall.pull(int(hall.chances.argmax()), luck=0.69) == 1.0
    assert hall.pull(int(hall.chances.argmax()), luck=0.71) == 0.0


def test_without_curiosity_the_best_known_machine_is_chosen():
    player = Player(3, curiosity=0.0)
    for machine, reward in ((0, 0.0), (1, 1.0), (2, 0.0)):
        player.learn(machine, reward)
    assert int(player.choose()) == 1


def test_full_curiosity_tries_every_machine():
    random.seed(0)
    player = Player(3, curiosity=1.0)
    assert {int(player.choose()) for _ in range(40)} == {0, 1, 2}


def test_untried_machines_are_worth_a_try():
    player = Player(2)
    for _ in range(10):
        player.learn(0, 0.5)
    assert player.worth()[1] > player.worth()[0] - 0.5
    assert torch.isfinite(player.worth()).all()
