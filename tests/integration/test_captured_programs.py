"""A program that never calls torch.compile prints and ends under `dynamo run` as under python.

Each file in captured_programs/ is such a program: one thing that real code does and that torch.compile may
change. Another one is another file, nothing else: it seeds its generators, prints what it comes to with all
digits, and takes a second. Some of them are run, and each that is named here; `ALL_CASES=1` runs all, under
Inductor as well.
"""

import difflib
import math
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from launching import ForkingPython
from support.cases import ALL_CASES, one_in

HERE = Path(__file__).resolve().parent
PROGRAMS = sorted(file.stem for file in (HERE / "captured_programs").glob("*.py"))
INDUCTOR = (
    "actor_critic_two_backwards",
    "batch_norm_modes",
    "random_generators",
    "value_errors_of_operators",
    "writes_on_inputs",
)
# What docs/captured_programs.md says is not kept. One that passes is to be taken out here and there.
NOT_KEPT = {
    "changing_code": "Dynamo does not guard methods of a class that is changed later",
    "counters_and_caches": "functools.lru_cache is traced without its cache",
    "inspection": "the rest of a frame behind a graph break has a name of its own",
    "is_compiling": "torch.compiler.is_compiling() is true while a frame is traced",
    "log_records": "the rest of a frame behind a graph break has a name of its own",
    "memory_of_inputs": "the inputs of a graph live until its backward",
    "module_hooks_added_midway": "hooks for all modules are not called inside of graphs compiled before",
    "write_then_index_error": "Python side effects of a frame come after its graph",
}
NOT_KEPT_BY_INDUCTOR = NOT_KEPT | {
    "inputs_reused_after_forward": "a graph may save an input for its backward where eager saves a result",
    "norms_on_strided_inputs": "BatchNorm gives a transposed input its own order of dimensions",
}
FRAMES = re.compile(r"\A(?:  .*\n)+")
NUMBER = re.compile(r"(?<![\w.])-?(?:\d+\.\d*(?:e[-+]?\d+)?|\d+e[-+]?\d+)(?![\w.])")


def _with_mark(name: str, not_kept: Mapping[str, str] = NOT_KEPT) -> Any:
    marks = [pytest.mark.xfail(reason=not_kept[name], strict=True)] if name in not_kept else []
    return pytest.param(name, marks=marks)


def chosen() -> list[str]:
    """The programs to run under aot_eager: those of Inductor are compared there."""
    others = [name for name in PROGRAMS if name not in (*INDUCTOR, *NOT_KEPT)]
    return PROGRAMS if ALL_CASES else sorted([*one_in(24, others), *NOT_KEPT])


@dataclass(frozen=True)
class Outcome:
    """What a program printed, how it ended, and the exception that ended it."""

    exit_code: int
    stdout: str
    last_words: str


Run = Callable[..., Outcome]


@pytest.fixture(scope="module")
def outcome(python: ForkingPython, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """`outcome(name, *options)` is what comes of `dynamo run OPTIONS`, `outcome(name)` of python."""
    folder = tmp_path_factory.mktemp("programs")

    def run(name: str, *options: str) -> Outcome:
        program = HERE / "captured_programs" / f"{name}.py"
        dynamo = ["-m", "dynamo_cli", "run", "-q", "-o", folder / "recording", *options] if options else []
        result = python.run(*dynamo, program, cwd=folder)
        shutil.rmtree(folder / "recording", ignore_errors=True)
        *_, last_traceback = result.stderr.split("Traceback (most recent call last):\n")
        return Outcome(
            result.exit_code, result.stdout, FRAMES.sub("", last_traceback) if result.exit_code else ""
        )

    return run


@pytest.mark.parametrize("name", [_with_mark(name) for name in chosen()])
def test_same_under_aot_eager(name: str, outcome: Run) -> None:
    assert_same(outcome(name), outcome(name, "--backend", "aot_eager"), tolerance=1e-6)


@pytest.mark.parametrize(
    "name", [_with_mark(name, NOT_KEPT_BY_INDUCTOR) for name in (PROGRAMS if ALL_CASES else INDUCTOR[::3])]
)
def test_same_under_inductor_within_tolerance(name: str, outcome: Run) -> None:
    assert_same(outcome(name), outcome(name, "--backend", "inductor"), tolerance=1e-4)


def assert_same(plain: Outcome, captured: Outcome, tolerance: float) -> None:
    """Equal but for the numbers with a decimal point, which are close: the others count or name something."""
    words = (
        [NUMBER.sub("#", text) for text in lines_of(plain)],
        [NUMBER.sub("#", text) for text in lines_of(captured)],
    )
    numbers = [[float(found) for found in NUMBER.findall("\n".join(lines_of(o)))] for o in (plain, captured)]
    is_close = all(
        math.isclose(ours, theirs, rel_tol=tolerance, abs_tol=tolerance / 100)
        for ours, theirs in zip(*numbers, strict=False)
    )
    if words[0] != words[1] or not is_close:
        difference = difflib.unified_diff(
            lines_of(plain), lines_of(captured), "python", "dynamo run", lineterm=""
        )
        pytest.fail("\n".join(difference), pytrace=False)


def lines_of(outcome: Outcome) -> list[str]:
    return [*outcome.stdout.splitlines(), f"exit code {outcome.exit_code}", *outcome.last_words.splitlines()]
