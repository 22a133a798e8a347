"""Find segments of customers, and print them."""

import argparse

from clustering import Clustering
from customers import GROUPS, make_customers


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--customers", type=int, default=60)
    given = parser.parse_args()
    found = Clustering(GROUPS).fit(make_customers(given.customers, given.seed))
    print(f"{len(found.centres)} segments after {found.rounds} rounds")
    for orders, spending, age in sorted(found.centres.tolist()):
        print(f"orders {orders:.3f}, spending {spending:.3f}, age {age:.3f}")


if __name__ == "__main__":
    main()
