"""Play some episodes, and print what the policy did."""

import argparse

import torch
from game import Game
from policy import Policy


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--episodes", type=int, default=2)
    given = parser.parse_args()
    torch.manual_seed(given.seed)
    policy = Policy()
    act = torch.compile(policy)
    for episode in range(given.episodes):
        game = Game(given.seed + episode)
        policy.begin()
        pushed = 0
        for _ in range(9):
            with torch.no_grad():
                chances = act(game.frame())
            push = int(chances.argmax()) - 1
            game.step(push)
            pushed += push
        print(f"episode {episode}: pushed {pushed}, surest {chances.max():.4f}, ball at {game.place[1]:.3f}")


if __name__ == "__main__":
    main()
