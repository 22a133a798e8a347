"""Wall time of a steady training step of two ranks (DistributedDataParallel, gloo), plain beside recorded."""

from blocks import compare_steps
from pairs import repeats_from_arguments

BOUND = 1.01  # of wall time, in which one rank waits for the other


def main() -> None:
    """Let the jobs train in turn and compare their steps."""
    repeats = repeats_from_arguments(__doc__, default=10)
    compare_steps("Steady training step of two ranks", "ddp_steps.py", repeats, BOUND)


if __name__ == "__main__":
    main()
