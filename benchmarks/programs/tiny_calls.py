"""Call a tiny compiled graph, a thousand times for each line on stdin."""

import argparse

import torch
from serving import serve

WARM_UP, CALLS = 20_000, 1_000


def main() -> None:
    """Warm up, then serve."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", default="eager")
    backend = parser.parse_args().backend

    torch.set_num_threads(1)
    x = torch.ones(4)

    @torch.compile(backend=backend)
    def add_one(x: torch.Tensor) -> torch.Tensor:
        return x + 1

    with torch.no_grad():
        for _ in range(WARM_UP):
            add_one(x)
        serve(lambda: add_one(x), CALLS)


if __name__ == "__main__":
    main()
