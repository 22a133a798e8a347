"""Replay a log of requests, and print the answers."""

import argparse

import torch
from catalogue import FEATURES, MARKETS, make_items
from ranker import Ranker
from service import RankingService, Request


def read_log(count: int, seed: int) -> list[Request]:
    """Requests from all markets in turn."""
    generator = torch.Generator().manual_seed(seed + 1)
    countries = list(MARKETS)
    return [
        Request(torch.rand(FEATURES, generator=generator), countries[number % len(countries)])
        for number in range(count)
    ]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--requests", type=int, default=18)
    given = parser.parse_args()
    torch.manual_seed(given.seed)
    service = RankingService(Ranker(), make_items(50, given.seed))
    total = 0.0
    for number, request in enumerate(read_log(given.requests, given.seed)):
        reply = service.answer(request)
        total += reply.scores[0]
        if number % 6 == 0:
            print(f"request {number} from {request.country}: best score {reply.scores[0]:.4f}")
    print(f"sum of the best scores: {total:.3f}")


if __name__ == "__main__":
    main()
