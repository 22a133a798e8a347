"""CPU time of a compile, cold and from a warm cache: plain, recorded, and with torch's own logs.

The time is that of the whole command, interpreter, imports and `dynamo` itself included.
"""

import shutil
from pathlib import Path

from pairs import (
    PROGRAMS,
    Side,
    plain,
    print_comparison,
    recorded,
    repeats_from_arguments,
    run_in_turn,
    workplace,
)

COLD_BOUND = 1.03
WARM_BOUND = 1.05
PROGRAM = PROGRAMS / "compile_transformer.py"


def sides(folder: Path, cache: Path, *, cold: bool) -> list[Side]:
    """Plain, recorded, and what torch offers itself; cold ones begin each run with an empty `cache`."""

    def empty_folders() -> None:
        shutil.rmtree(folder / "trace", ignore_errors=True)
        if cold:
            shutil.rmtree(cache, ignore_errors=True)

    inductor = {"TORCHINDUCTOR_CACHE_DIR": str(cache)}
    return [
        Side("plain", plain(PROGRAM), inductor, empty_folders),
        Side("dynamo run", recorded(PROGRAM, recording=folder / "recording"), inductor, empty_folders),
        Side("TORCH_TRACE", plain(PROGRAM), inductor | {"TORCH_TRACE": str(folder / "trace")}, empty_folders),
        Side("TORCH_LOGS=all", plain(PROGRAM), inductor | {"TORCH_LOGS": "all"}, empty_folders),
    ]


def measure(title: str, bound: float, compared: list[Side], repeats: int) -> None:
    """Run the sides in turn and print their CPU times."""
    runs = run_in_turn(compared, repeats)
    cpu = {name: [run.cpu_s for run in of_side] for name, of_side in runs.items()}
    print_comparison(title, "s of CPU", cpu, f"ratio <= {bound}")


def main() -> None:
    """Measure both."""
    repeats = repeats_from_arguments(__doc__, default=5)
    with workplace() as folder:
        # The header that Inductor precompiles is kept outside its cache: the first run of all pays for it.
        run_in_turn(sides(folder, folder / "first", cold=True)[:1], 1)
        measure("Cold compile", COLD_BOUND, sides(folder, folder / "cold", cold=True), repeats)
        warm = sides(folder, folder / "warm", cold=False)
        run_in_turn(warm[:2], 1)
        measure("Compile from a warm cache", WARM_BOUND, warm, repeats)


if __name__ == "__main__":
    main()
