"""How many of the broken programs `dynamo fix` proves a cure for, with nobody's help.

Each program in tests/integration/broken_programs has one planted cause. `dynamo fix` runs on each; what it
has proven of the first finding is then written into a copy of the program, which runs once more: it must
print what it printed, and the finding must be gone. Anything else would be a wrong cure.
"""

import argparse
import ast
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pairs import progress, workplace

import dynamo_core

TESTS = Path(__file__).resolve().parent.parent / "tests" / "integration"
sys.path += [str(TESTS), str(TESTS.parent)]
from launching import ForkingPython  # noqa: E402

CORPUS = TESTS / "broken_programs"
_LIMITS = ("--most-runs", "14", "--budget", "120")


@dataclass(frozen=True)
class Outcome:
    """What came of a program: `verdict` is one of _VERDICTS, `how` says by what, or why not."""

    program: str
    verdict: str
    how: str
    runs: int = 0


_VERDICTS = ("proven", "wrong", "tried", "not tried", "failed")


def environment(folder: Path) -> dict[str, str]:
    """The environment of the programs: none of our own variables or torch's, and a cache of their own."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("DYNAMO_", "TORCH"))}
    cache = os.environ.get("DYNAMO_TEST_INDUCTOR_CACHE") or str(folder / "inductor")
    return kept | {"TORCHINDUCTOR_CACHE_DIR": cache, "NO_COLOR": "1"}


@dataclass(frozen=True)
class Runner:
    """Runs `dynamo` commands in a folder, in copies of a Python that has imported torch."""

    python: ForkingPython
    folder: Path

    def dynamo(self, *arguments: str) -> tuple[int, str, str]:
        """Its exit code, stdout and stderr."""
        result = self.python.run("-m", "dynamo_cli", *arguments, cwd=self.folder)
        return result.exit_code, result.stdout, result.stderr


def main() -> None:
    """Try each program, or those named, and print a line each and the sums."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "names", nargs="*", help="programs of the corpus, without .py; all where none is named"
    )
    names = parser.parse_args().names or sorted(
        file.stem for file in CORPUS.glob("*.py") if not file.stem.endswith(".cured")
    )
    outcomes: list[Outcome] = []
    with workplace() as folder:
        python = ForkingPython(environment(folder), folder)
        runner = Runner(python, folder)
        for number, name in enumerate(names, 1):
            progress(f"{name} ({number} of {len(names)})")
            outcome = _outcome(name, runner)
            outcomes.append(outcome)
            print(
                f"{outcome.program:34} {outcome.verdict:10} {outcome.runs:3} runs  {outcome.how}", flush=True
            )
        python.end()
    _print_sums(outcomes)


def _outcome(name: str, runner: Runner) -> Outcome:
    folder = runner.folder
    programs = folder / "programs"
    shutil.rmtree(programs, ignore_errors=True)
    shutil.rmtree(folder / ".dynamo", ignore_errors=True)
    shutil.copytree(CORPUS, programs, ignore=shutil.ignore_patterns("*.cured.py", "__pycache__"))
    program, document, patch = programs / f"{name}.py", folder / "fix.json", folder / "fix.patch"
    options = _options(program)
    written = ("--format", "json", "-o", str(document), "--patch", str(patch))
    for file in (document, patch):
        file.unlink(missing_ok=True)
    exit_code, _, stderr = runner.dynamo("fix", "--yes", *_LIMITS, *written, *options, str(program))
    if exit_code or not document.exists():
        return Outcome(
            name, "failed", stderr.strip().splitlines()[-1] if stderr.strip() else f"exit {exit_code}"
        )
    found = json.loads(document.read_text())
    if not found["fixes"]:
        return Outcome(name, "failed", "nothing was found", found["runs"])
    first, together = found["fixes"][0], found["together"]
    refuted = together is not None and together["verdict"] not in ("cures", "helps")
    kept = _kept(first)
    if first["cured_by"] is not None:
        kept = next(
            _kept(each)
            for each in found["fixes"]
            if each["number"] == first["cured_by"] and each["kept"] is not None
        )
    if kept is None or refuted or kept["verdict"] != "cures":
        return _not_proven(name, first, together if refuted else None, found["runs"])
    how = _said(kept["remedy"])
    wrong = _what_is_wrong(program, first, kept, patch, options, runner)
    return Outcome(name, "wrong" if wrong else "proven", wrong or how, found["runs"])


def _kept(fix: dict[str, Any]) -> dict[str, Any] | None:
    return None if fix["kept"] is None else fix["trials"][fix["kept"]]


def _options(program: Path) -> list[str]:
    text = ast.get_docstring(ast.parse(program.read_text())) or ""
    said = (line.partition("options: ")[2] for line in text.splitlines() if line.startswith("options: "))
    return next(said, "").split()


def _not_proven(name: str, first: dict[str, Any], refuted: dict[str, Any] | None, runs: int) -> Outcome:
    trials = [f"{each['verdict']} ({each['reason'] or _said(each['remedy'])})" for each in first["trials"]]
    if refuted is not None:
        trials.append(f"together: {refuted['verdict']} ({refuted['reason']})")
    if trials:
        return Outcome(name, "tried", "; ".join(trials), runs)
    remedies = first["finding"]["remedies"]
    return Outcome(name, "not tried", remedies[0]["text"] if remedies else "no remedy", runs)


def _said(remedy: dict[str, Any]) -> str:
    change = remedy["change"]
    words = [change["edit"]] if change["edit"] else []
    words += [
        f"{a['name']}={a['value']}" for k in ("environment", "settings", "arguments") for a in change[k]
    ]
    return ", ".join([*words, *change["options"]])


def _what_is_wrong(
    program: Path,
    first: dict[str, Any],
    kept: dict[str, Any],
    patch: Path,
    options: Sequence[str],
    runner: Runner,
) -> str | None:
    """Make what is proven in the copy, run it, and say what is not as it was promised."""
    folder = runner.folder
    _, before, _ = runner.dynamo("run", "-q", "-f", "-o", str(folder / "before"), *options, str(program))
    if patch.exists() and patch.read_text():
        made = subprocess.run(["patch", "-p1", "-i", str(patch)], cwd=folder, capture_output=True, text=True)
        if made.returncode:
            return f"the patch does not apply: {made.stdout}"
    elif kept["remedy"]["change"]["edit"] is None:
        options = [*options, *kept["remedy"]["change"]["options"]]
    exit_code, after, stderr = runner.dynamo(
        "run", "-q", "-f", "-o", str(folder / "after"), *options, str(program)
    )
    if after != before:
        return f"exit {exit_code}; it prints {after[:200]!r}, not {before[:200]!r} {stderr[-200:]}"
    kind, function = first["finding"]["kind"], first["finding"]["function"]
    left = [
        f for f in dynamo_core.open(folder / "after").findings if (f.kind, f.function) == (kind, function)
    ]
    return f"it is still there: {left[0].title}" if left else None


def _print_sums(outcomes: Sequence[Outcome]) -> None:
    verdicts = Counter(each.verdict for each in outcomes)
    print("\n" + ", ".join(f"{verdicts[each]} {each}" for each in _VERDICTS if verdicts[each]))
    print(f"proven: {verdicts['proven']} of {len(outcomes)} ({verdicts['proven'] / len(outcomes):.0%})")
    by = Counter(each.how.partition("=")[0] for each in outcomes if each.verdict == "proven")
    for how, count in by.most_common():
        print(f"  {count:3}  {how}")


if __name__ == "__main__":
    main()
