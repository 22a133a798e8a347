"""Send batches of both cameras through the augmentation, and print the channels' figures."""

import argparse

import torch
from augment import Augmentation
from sources import camera_images
from summary import Summary


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--batches", type=int, default=8)
    given = parser.parse_args()
    augment = torch.compile(Augmentation())
    summary = Summary()
    with torch.no_grad():
        for images in camera_images(given.batches, batch=8, seed=given.seed):
            summary.add(augment(images))
    print(f"{given.batches} batches")
    for line in summary.lines():
        print(line)


if __name__ == "__main__":
    main()
