"""CPU time of a steady training step of a compiled model, plain beside recorded."""

from blocks import compare_steps
from pairs import repeats_from_arguments

BOUND = 1.005


def main() -> None:
    """Let the processes train in turn and compare their steps."""
    repeats = repeats_from_arguments(__doc__, default=20)
    compare_steps("Steady training step", "train_steps.py", repeats, BOUND)


if __name__ == "__main__":
    main()
