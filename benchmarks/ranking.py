"""Whether the finding that comes first is the one whose cure wins most, measured by curing each alone.

Each program in programs/several_findings has several causes, each on a line that ends in `# cure: NAME`, and
can be run without any of them. What a cure wins is the CPU time of the program as it is less that with the
cure, as the median of runs in turn, in one process that forgets what it has compiled before each.
"""

import importlib.util
import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median

from pairs import PROGRAMS, progress, repeats_from_arguments, workplace

import dynamo_core

FOLDER = PROGRAMS / "several_findings"
_MARK = re.compile(r"# cure: (\w+)$")
_MEASURE = "--measure"


def main() -> None:
    """For each program the findings in their order, with what the cure of each wins."""
    repeats = repeats_from_arguments(__doc__, default=3)
    programs = sorted(FOLDER.glob("*.py"))
    right = 0
    with workplace() as folder:
        for program in programs:
            progress(program.stem)
            cured = _measured(program, repeats)
            progress("")
            found = list(dict.fromkeys(_ranked_cures(program, folder / program.stem)))
            wins = {name: median(_differences(cured[""], cured[name], "cpu_s")) for name in cured if name}
            best = max(wins, key=lambda name: wins[name])
            is_right = found[:1] == [best]
            right += is_right
            print(
                f"\n{program.stem}: {'right' if is_right else 'WRONG'}; ranked {', '.join(found) or 'none'}"
            )
            print(f"  {'cure':12} {'wins, CPU s':>12} {'compiles less':>14} {'breaks less':>12}")
            for name in sorted(wins, key=lambda name: -wins[name]):
                fewer = [median(_differences(cured[""], cured[name], of)) for of in ("compiles", "breaks")]
                print(f"  {name:12} {wins[name]:12.2f} {fewer[0]:14.0f} {fewer[1]:12.0f}")
    print(f"\nthe first is the one whose cure wins most: {right} of {len(programs)}")


def _differences(
    without: Sequence[Mapping[str, float]], cured: Sequence[Mapping[str, float]], what: str
) -> Iterator[float]:
    for before, after in zip(without, cured, strict=True):
        yield before[what] - after[what]


def _ranked_cures(program: Path, recording: Path) -> Iterator[str]:
    """The names of the cures, in the order of the findings on their lines."""
    run = [sys.executable, "-m", "dynamo_cli", "run", "-q", "-o", str(recording), str(program)]
    subprocess.run(run, check=True, capture_output=True)
    lines = program.read_text().splitlines()
    for finding in dynamo_core.open(recording).findings:
        if finding.place is not None and Path(finding.place.file).name == program.name:
            mark = _MARK.search(lines[finding.place.line - 1])
            yield mark[1] if mark is not None else f"line {finding.place.line} ({finding.kind})"


def _measured(program: Path, repeats: int) -> dict[str, list[dict[str, float]]]:
    """For each cure, and "" for none, what each run took."""
    command = [sys.executable, __file__, _MEASURE, str(program), str(repeats)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    taken: dict[str, list[dict[str, float]]] = json.loads(done.stdout)
    return taken


def _measure(program: Path, repeats: int) -> None:
    import torch
    from torch._dynamo.utils import counters

    torch.set_num_threads(1)
    spec = importlib.util.spec_from_file_location(program.stem, program)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.run(frozenset())  # what is imported at first, and allocated
    taken: dict[str, list[dict[str, float]]] = {name: [] for name in ("", *module.CURES)}
    for _ in range(repeats):
        for name in taken:
            torch._dynamo.reset()
            counters.clear()
            began = time.process_time()
            module.run(frozenset([name]))
            cpu = time.process_time() - began
            compiles = counters["frames"]["ok"]
            taken[name].append(
                {"cpu_s": cpu, "compiles": compiles, "breaks": sum(counters["graph_break"].values())}
            )
    print(json.dumps(taken))


if __name__ == "__main__":
    if sys.argv[1:2] == [_MEASURE]:
        _measure(Path(sys.argv[2]), int(sys.argv[3]))
    else:
        main()
