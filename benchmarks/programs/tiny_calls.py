"""Call a tiny compiled graph many times; print the nanoseconds of CPU for one call, in the best block."""

import argparse
from time import process_time_ns

import torch

WARM_UP, BLOCKS, CALLS = 10_000, 200, 1_000


def main() -> None:
    """Warm up, then time blocks of calls."""
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
        blocks = []
        for _ in range(BLOCKS):
            start = process_time_ns()
            for _ in range(CALLS):
                add_one(x)
            blocks.append((process_time_ns() - start) / CALLS)
    print(min(blocks))


if __name__ == "__main__":
    main()
