"""Train a compiled model, three steps for each line on stdin."""

from serving import serve
from training import training_step

WARM_UP, STEPS = 50, 3


def main() -> None:
    """Warm up, then serve."""
    step = training_step()
    for _ in range(WARM_UP):
        step()
    serve(step, STEPS)


if __name__ == "__main__":
    main()
