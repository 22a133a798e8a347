"""Watch the sensors of a machine for some rounds, and print the alarms."""

import argparse

from alarms import Monitor
from sensors import readings


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    monitor = Monitor()
    for reading in readings(given.rounds, given.seed):
        monitor.watch(reading)
    for sensor, score in monitor.alarms:
        print(f"alarm: {sensor}, score {score:.3f}")
    for sensor, score in sorted(monitor.highest.items()):
        print(f"{sensor}: highest score {score:.3f}")


if __name__ == "__main__":
    main()
