"""`dynamo repro` on its corpus, and what torch's minifier and bisector make of the same programs.

The corpus is that of `tests/integration/test_repro_command.py`. The minifier runs after Dynamo and after
AOTAutograd (`TORCHDYNAMO_REPRO_AFTER`), at level 4, which looks for wrong values, or 2 for all else; then the
launcher that it leaves, and then the program that this leaves, alone. The bisector is given the finished file
of `dynamo repro`, as it needs a command that fails.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parents[1] / "tests"
sys.path[:0] = [str(TESTS / "integration"), str(TESTS)]

BUDGET = "400s"
_LIMIT_S = 240
_COLUMNS = (
    "program | failure | from | to | trials | seconds | alone | minifier after Dynamo | after AOTAutograd"
    " | bisector"
)


def row(program: Path, folder: Path, *, only_ours: bool) -> str:
    """A row of the table, for a program whose files may lie in `folder`."""
    began = time.monotonic()
    found = reproduced(program, folder / "ours")
    seconds = time.monotonic() - began
    cells = [program.name, *ours(found), f"{seconds:.0f}", alone(found)]
    if only_ours:
        return " | ".join(cells)
    kind = found.get("failure", {}).get("kind")
    cells += [minified(program, folder / after, after, kind) for after in ("dynamo", "aot")]
    cells.append(bisected(folder / "ours" / "repro.py"))
    return " | ".join(cells)


def reproduced(program: Path, folder: Path) -> dict[str, Any]:
    """The document of `dynamo repro`; with `error` alone where it found nothing."""
    from test_repro_command import docstring

    values = ["--values"] if "values" in docstring(program) else []
    command = ["-m", "dynamo_cli", "repro", "-y", "--json", *values, "--budget", BUDGET, str(program)]
    done = python(*command, folder=folder, limit=1800)
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def ours(found: Mapping[str, Any]) -> list[str]:
    """The failure, both sizes, and the number of trials."""
    if "failure" not in found:
        return [str(found["error"]["message"]), "", "", ""]
    failure, stage = found["failure"], found["stage"] or found["backend"]
    sizes = [found["first_size"], f"{found['size']}, {found['lines']} lines"]
    return [f"{failure['kind']}, {stage}", *sizes, str(len(found["trials"]))]


def alone(found: Mapping[str, Any]) -> str:
    """In how many runs alone the file failed."""
    proof = found.get("proof")
    return "" if proof is None else f"{proof['failed']} of {proof['rounds']}"


def minified(program: Path, folder: Path, after: str, kind: str | None) -> str:
    """What torch's minifier leaves."""
    level = "4" if kind == "wrong result" else "2"
    variables = {"TORCHDYNAMO_REPRO_AFTER": after, "TORCHDYNAMO_REPRO_LEVEL": level}
    try:
        python(str(program), folder=folder, more=variables)
        launchers = sorted(folder.glob("torchdynamo_debug/**/minifier_launcher.py"))
        if not launchers:
            return "no file"
        python(str(launchers[-1]), folder=folder, more=variables)
        files = sorted(folder.glob("torchdynamo_debug/**/repro.py"))
        if not files:
            return "its launcher leaves no program"
        fails = python(str(files[-1]), folder=folder).returncode != 0
    except subprocess.TimeoutExpired:
        return f"not ended after {_LIMIT_S} s"
    function = files[-1].read_text().partition("def forward(")[2].partition("\n\n")[0]
    count = len(re.findall(r"^ +\w+ = .*\(", function, re.MULTILINE))
    return f"{count} operations, {'fails' if fails else 'does not fail'} alone"


def bisected(file: Path) -> str:
    """What the bisector says of a program that fails."""
    if not file.exists():
        return ""
    command = ["-m", "torch._inductor.compiler_bisector", "run", sys.executable, str(file)]
    try:
        done = python(*command, folder=file.parent)
    except subprocess.TimeoutExpired:
        return f"not ended after {_LIMIT_S} s"
    last = (done.stdout.strip().splitlines() or ["nothing"])[-1]
    named = re.findall(r"(?:backend|subsystem|bisect_number)=([^,)]+)", last)
    return ", ".join(each.strip("'") for each in named if each != "None") or last[:60]


def python(
    *arguments: str, folder: Path, more: Mapping[str, str] | None = None, limit: float = _LIMIT_S
) -> "subprocess.CompletedProcess[str]":
    """Run Python in a folder, with Inductor's cache there; TimeoutExpired after `limit` seconds."""
    folder.mkdir(parents=True, exist_ok=True)
    variables = os.environ | {"TORCHINDUCTOR_CACHE_DIR": str(folder.parent / "cache")} | dict(more or {})
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=variables,
        capture_output=True,
        text=True,
        timeout=limit,
        check=False,
    )


def main() -> None:
    """Run the programs that are named, or all, and print a table."""
    from test_repro_command import FILES

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help="the name of one, without its ending")
    parser.add_argument("--only-ours", action="store_true", help="run none of torch's tools")
    given = parser.parse_args()
    names = given.programs
    print(_COLUMNS)
    print(" | ".join(["---"] * len(_COLUMNS.split(" | "))))
    for program in [each for each in FILES if not names or each.stem in names]:
        with tempfile.TemporaryDirectory() as folder:
            try:
                print(row(program, Path(folder), only_ours=given.only_ours), flush=True)
            except Exception as error:  # the other programs are still to be run
                print(f"{program.name} | {type(error).__name__}: {error}", flush=True)


if __name__ == "__main__":
    main()
