"""Score advertisements for some pages, and print the best of each."""

import argparse

import torch
from model import ClickModel
from pages import COLUMNS, make_adverts, make_pages


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--pages", type=int, default=5)
    given = parser.parse_args()
    torch.manual_seed(given.seed)
    score = torch.compile(ClickModel(COLUMNS))
    adverts = make_adverts(7, given.seed)
    with torch.no_grad():
        for number, page in enumerate(make_pages(given.pages, given.seed)):
            chances = score(page, adverts)
            print(f"page {number}: advert {int(chances.argmax())}, chance {chances.max():.4f}")


if __name__ == "__main__":
    main()
