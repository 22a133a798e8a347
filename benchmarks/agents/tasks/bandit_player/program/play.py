"""Let a player try a hall of slot machines, and print how it gets on."""

import argparse
import random

import torch
from machines import make_hall
from player import Player


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=60)
    given = parser.parse_args()
    random.seed(given.seed)
    hall = make_hall(machines=5, seed=given.seed)
    player = Player(len(hall))
    luck = torch.rand(given.rounds, generator=torch.Generator().manual_seed(given.seed + 1)).tolist()
    total = 0.0
    for number in range(given.rounds):
        machine = int(player.choose())
        reward = hall.pull(machine, luck[number])
        player.learn(machine, reward)
        total += reward
        if (number + 1) % 20 == 0:
            print(f"after {number + 1} rounds: {total:.0f} won, last machine {machine}")
    print(f"tries: {player.tries.long().tolist()}")


if __name__ == "__main__":
    main()
