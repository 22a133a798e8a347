"""What whole-program capture may cost is bounded, and the report says by what."""

from collections.abc import Callable
from typing import Any

import pytest

from launching import run_to_end
from running import PROGRAMS
from support.cases import nightly

Explain = Callable[..., dict[str, Any]]
LOOPS = PROGRAMS / "loops.py"


def frames_of(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The last frame of each place: `loops.py:15`."""
    frames = [frame for process in document["processes"] for frame in process["frames"]]
    return {f"{frame['place']['file'].rpartition('/')[2]}:{frame['name']}": frame for frame in frames}


def calls_of(document: dict[str, Any]) -> int:
    return sum(graph["calls"] for process in document["processes"] for graph in process["graphs"])


@pytest.fixture
def run(forked: Any) -> Any:
    """Nothing here is about how a process starts."""
    return forked


@pytest.mark.parametrize(
    ("program", "limit_met", "calls"),
    [
        ("over_time", 1, 300),
        ("over_time_with_torchs_cell", 1, 300),
        ("over_time_inside", 1, 300),
        ("generates", 1, 299),
        ("over_layers", 0, 1),
    ],
)
def test_a_loop_over_the_same_work_is_not_unrolled(
    program: str, limit_met: int, calls: int, explained: Explain
) -> None:
    document = explained("--backend", "eager", LOOPS, program)
    assert [line.count("--loop-limit 16") for line in document["limits"]] == [1] * limit_met
    assert calls_of(document) == calls
    assert document["summary"]["graph_breaks"] == 0


@nightly
def test_the_bounds_are_settable(explained: Explain) -> None:
    unrolled = explained("--backend", "eager", "--loop-limit", "0", LOOPS, "over_time")
    assert calls_of(unrolled) == 1
    assert unrolled["limits"] == []
    few_ops = explained("--backend", "eager", "--op-limit", "100", LOOPS, "over_layers")
    assert "--op-limit 100" in few_ops["limits"][0]
    assert frames_of(few_ops)["loops.py:forward"]["outcome"] == "compiled", "the layers are, one by one"
    hasty = explained("--backend", "eager", LOOPS, "over_layers", env={"DYNAMO_TRACE_LIMIT": "0.001"})
    assert "--trace-limit 0.001" in hasty["limits"][0]


def test_a_program_that_compiles_for_itself_has_no_bounds(explained: Explain, tmp_path: Any) -> None:
    (tmp_path / "own.py").write_text(
        f"import sys, torch\nsys.path.insert(0, {str(PROGRAMS)!r})\nimport loops\n"
        "torch.compile(loops.OverTime(loops.Cell()), backend='eager')(torch.ones(2, 100, 8))\n"
    )
    document = explained("--loop-limit", "1", "--op-limit", "1", "own.py")
    assert document["limits"] == []
    assert document["summary"]["ops"] > 400


def test_what_cannot_pay_is_not_compiled(explained: Explain, tmp_path: Any) -> None:
    functions = "".join(f"def f{i}(x): return x + {i}\n" for i in range(3))
    calls = "".join(f"f{i}(torch.ones(3));" * 2 for i in range(3))
    (tmp_path / "helpers.py").write_text(f"import torch\n{functions}{calls}\n")
    document = explained("--backend", "eager", "--capture-budget", "0.001", "helpers.py")
    assert document["summary"]["graphs"] == 1, "the first is compiled, whatever it takes"
    assert len(document["limits"]) == 2
    assert "ran eager 2 times" in document["limits"][0]
    assert "--capture-budget 0.001" in document["limits"][0]


@nightly
def test_the_same_results_with_inductor(environment: dict[str, str], run: Any, tmp_path: Any) -> None:
    import sys

    plain = run_to_end([sys.executable, str(LOOPS), "generates"], environment, tmp_path)
    captured = run("run", LOOPS, "generates")
    assert captured.stdout == plain.stdout
    assert "--loop-limit" in captured.stderr


def test_a_backend_that_takes_too_long_is_given_up(run: Any, explained: Explain, tmp_path: Any) -> None:
    (tmp_path / "slow.py").write_text(
        "import time\n"
        "def slow(gm, inputs):\n"
        "    if len(gm.graph.nodes) > 3: time.sleep(60)\n"  # not Python code that could look at a clock
        "    return gm.forward\n"
    )
    (tmp_path / "program.py").write_text(
        "import signal, torch\n"
        "def outer(x):\n    return inner(x) * 3\n"
        "def inner(x):\n    return x + 1\n"
        "is_restored = signal.getsignal(signal.SIGRTMAX - 3) == signal.SIG_DFL\n"
        "print(outer(torch.ones(2)), outer(torch.ones(2)), is_restored)\n"
    )
    plain = "tensor([6., 6.]) tensor([6., 6.]) True\n"
    result = run("run", "--compile-limit", "1", "--backend", "slow.py:slow", "-o", "rec", "program.py")
    assert (result.exit_code, result.stdout) == (0, plain), result.stderr
    assert "the backend took longer than 1 s (--compile-limit 1)" in result.stderr
    frames = frames_of(explained("rec"))
    assert frames["program.py:outer"]["limit"] == "--compile-limit"
    assert frames["program.py:inner"]["outcome"] == "compiled", "what it calls is asked about on its own"
