"""Three compiled programs, plain and under `dynamo run --verify`, and whether --verify-budget is kept."""

import json
import subprocess
import sys
from pathlib import Path
from statistics import median

from pairs import (
    PROGRAMS,
    Run,
    Side,
    plain,
    print_comparison,
    recorded,
    repeats_from_arguments,
    run_in_turn,
    workplace,
)

PROGRAM = PROGRAMS / "verified_steps.py"
STEPS = {"mlp": "20000", "transformer": "300", "generate": "200"}
SHARE = 5  # percent


def main() -> None:
    """Run each program plain and verified in turn; print ratios, and what comparing took of the time."""
    repeats = repeats_from_arguments(__doc__, default=3)
    with workplace() as folder:
        for name, steps in STEPS.items():
            _compare(folder, name, steps, repeats)


def _compare(folder: Path, name: str, steps: str, repeats: int) -> None:
    inductor = {"TORCHINDUCTOR_CACHE_DIR": str(folder / "cache")}
    free, bounded = folder / "free", folder / "bounded"
    verified = inductor | {"DYNAMO_VERIFY": "report"}
    sides = [
        Side("plain", plain(PROGRAM, name, steps), inductor),
        Side("--verify", recorded(PROGRAM, name, steps, recording=free), verified),
        Side(
            f"--verify-budget {SHARE}%",
            recorded(PROGRAM, name, steps, recording=bounded),
            verified | {"DYNAMO_VERIFY_BUDGET": f"{SHARE}%"},
        ),
    ]
    run_in_turn(sides, 1)  # fills Inductor's cache
    runs = run_in_turn(sides, repeats)
    figures = {side: [float(run.stdout) for run in of_side] for side, of_side in runs.items()}
    print_comparison(f"{name}, a step", "ms", figures, "stated")
    for side, recording in (("--verify", free), (f"--verify-budget {SHARE}%", bounded)):
        print(f"  {side}: {_share_of_time(recording, runs[side])}")


def _share_of_time(recording: Path, runs: list[Run]) -> str:
    """What comparing calls of the program took of the last run, without what is compared of graphs."""
    explain = [sys.executable, "-m", "dynamo_cli", "explain", "--format", "json", str(recording)]
    document = json.loads(subprocess.run(explain, capture_output=True, check=True).stdout)
    calls = document["verified"]["program_calls"]
    compared = [call["seconds"] for call in calls if call["outcome"] == "agrees"]
    seconds, wall = sum(call["seconds"] for call in calls), runs[-1].wall_s
    each = f", {median(compared):.2f} s each" if compared else ""
    return f"{len(compared)} calls compared in {seconds:.1f} s{each}: {seconds / wall:.1%} of {wall:.1f} s"


if __name__ == "__main__":
    main()
