"""CPU time of one call of a tiny compiled graph in the steady state, bare and counted in turn."""

import json
from collections.abc import Mapping, Sequence
from statistics import median

from pairs import PROGRAMS, Side, print_comparison, recorded, repeats_from_arguments, run_in_turn, workplace

BOUND_US = 0.5


def main() -> None:
    """Let processes of either backend call in turn and compare their calls."""
    repeats = repeats_from_arguments(__doc__, default=10)
    program = PROGRAMS / "swapped_calls.py"
    with workplace() as folder:
        sides = [
            Side(
                backend,
                recorded(program, "--backend", backend, recording=folder / "recording"),
                {"TORCHINDUCTOR_CACHE_DIR": str(folder / "cache")},
            )
            for backend in ("eager", "inductor")
        ]
        runs = run_in_turn(sides, repeats)
    scale: list[float] = []
    for backend, of_backend in runs.items():
        blocks = [json.loads(run.stdout) for run in of_backend]
        scale += [ns for each in blocks for ns in each.pop("an empty function")]
        print_comparison(
            f"One call of a graph, backend {backend}", "us", _by_side(blocks), f"difference <= {BOUND_US} us"
        )
    print(f"\nFor scale: calling an empty Python function takes {median(scale):.0f} ns on this machine.")


def _by_side(blocks: Sequence[Mapping[str, Sequence[float]]]) -> dict[str, list[float]]:
    """For each side the figure of each process, in microseconds.

    A side differs from the first one by the median of the differences of blocks in turn, which are
    milliseconds apart: what slows the machine down meets both.
    """
    figures: dict[str, list[float]] = {}
    for taken in blocks:
        base = next(iter(taken.values()))
        for side, of_side in taken.items():
            beyond = median(ns - base_ns for base_ns, ns in zip(base, of_side, strict=True))
            figures.setdefault(side, []).append((median(base) + beyond) / 1e3)
    return figures


if __name__ == "__main__":
    main()
