"""Forecast the traffic of some hours, and print the busiest crossing."""

import argparse

import torch
from model import TrafficModel
from roads import make_town, make_traffic


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--hours", type=int, default=4)
    given = parser.parse_args()
    torch.manual_seed(given.seed)
    town = make_town(12, given.seed)
    model = torch.compile(TrafficModel())
    with torch.no_grad():
        for hour, traffic in enumerate(make_traffic(town, given.hours, given.seed)):
            vehicles = model(traffic, town)
            busiest = int(vehicles.argmax())
            print(f"hour {hour}: crossing {busiest} has {vehicles[busiest]:.4f}, mean {vehicles.mean():.4f}")


if __name__ == "__main__":
    main()
