"""Replay what listeners heard, and print what they are recommended."""

import argparse

from recommender import Recommender
from songs import make_plays, make_songs


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--plays", type=int, default=12)
    given = parser.parse_args()
    songs = make_songs(40, given.seed)
    recommender = Recommender(songs)
    for play in make_plays(songs, given.plays, given.seed):
        print(f"{play.listener}: {recommender.recommend(play)}")
    tastes = sorted((name, float(taste[0])) for name, taste in recommender.tastes.items())
    print(", ".join(f"{name} {value:.4f}" for name, value in tastes))


if __name__ == "__main__":
    main()
