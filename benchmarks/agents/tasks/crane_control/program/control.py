"""Plan for some loads, and print where they end."""

import argparse

from crane import make_loads, positions
from planner import Planner


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--loads", type=int, default=4)
    given = parser.parse_args()
    planner = Planner(given.seed)
    for load in make_loads(given.loads, given.seed):
        pushes, cost = planner.plan(load)
        end = float(positions(pushes[None])[0, -1])
        print(
            f"load for {load.target:.2f} m on {load.rope:.2f} m of rope: ends at {end:.3f}, cost {cost:.3f}"
        )


if __name__ == "__main__":
    main()
