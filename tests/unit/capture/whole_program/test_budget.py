"""Frames wait while compiling has taken more CPU time than the program itself, by more than the allowance."""

import subprocess
import sys
import time
from contextlib import nullcontext
from types import ModuleType
from typing import Any

import pytest

from dynamo_core.capture.probe_guard import ProbeGuard
from dynamo_core.capture.whole_program.budget import Budget, CompileDeferred, compile_processes_ns
from dynamo_core.capture.whole_program.capture import WholeProgramCapture
from dynamo_core.capture.whole_program.limits import TracingLimits
from dynamo_core.shared.our_record import OurRecord
from dynamo_core.shared.settings import Settings


class Stream:
    """Keeps what is recorded."""

    def __init__(self) -> None:
        self.records: list[dict[str, Any]] = []

    def record(self, record: OurRecord) -> None:
        self.records.append(record.payload())


def work(seconds: float) -> None:
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


CODE = work.__code__


def test_a_frame_waits_until_the_program_has_caught_up() -> None:
    stream = Stream()
    budget = Budget(0.02, stream)  # type: ignore[arg-type]
    assert not budget.defers(CODE)
    with budget.spending():
        work(0.1)
    assert budget.defers(CODE)
    assert budget.defers(CODE)
    work(0.15)
    assert not budget.defers(CODE)
    budget.finish()
    assert [record["times"] for record in stream.records] == [1, 2]
    assert stream.records[0]["name"] == "work"


def test_without_an_allowance_nothing_waits() -> None:
    budget = Budget(None, Stream())  # type: ignore[arg-type]
    with budget.spending():
        work(0.01)
    assert not budget.defers(CODE)


def test_a_graph_that_would_take_too_long_waits_before_its_backend_is_called() -> None:
    stream = Stream()
    budget = Budget(0.5, stream)  # type: ignore[arg-type]
    assert budget.call_backend(CODE, 4, lambda: "compiled") == "compiled"
    with pytest.raises(CompileDeferred, match="its graph of 1000 ops"):
        budget.call_backend(CODE, 1000, lambda: pytest.fail("the backend was called"))
    assert not stream.records  # the frame's own record says so
    assert not budget.defers(CODE)  # what it calls may be compiled
    assert budget.is_too_large(CODE)  # without being traced again
    assert not budget.is_too_large(Stream.record.__code__)


def test_what_an_op_takes_is_measured() -> None:
    budget = Budget(1.0, Stream())  # type: ignore[arg-type]
    budget.call_backend(CODE, 9, lambda: work(0.3))  # fewer ops than are measured
    with pytest.raises(CompileDeferred):
        budget.call_backend(CODE, 100, lambda: None)
    other = Budget(60.0, Stream())  # type: ignore[arg-type]
    other.call_backend(CODE, 20, lambda: work(0.02))
    other.call_backend(CODE, 5000, lambda: None)  # 500 s by the rate that is supposed at first


def test_a_backward_that_is_compiled_later_is_spent_and_no_work_of_the_program() -> None:
    budget = Budget(0.02, Stream())  # type: ignore[arg-type]
    began = time.process_time()
    assert budget.compile_backward(lambda: work(0.1)) is None
    assert budget.defers(CODE)
    with pytest.raises(ValueError, match="of the compiler"):
        budget.compile_backward(fails)
    work(time.process_time() - began + 0.05)
    assert not budget.defers(CODE)


@pytest.mark.parametrize("is_in_a_frame", [False, True])
def test_what_inductor_compiles_outside_of_a_frame_is_spent(is_in_a_frame: bool) -> None:
    probes = ProbeGuard(Stream())  # type: ignore[arg-type]
    settings = Settings("rec", capture_budget=0.02)
    limits = TracingLimits(settings, probes)
    capture = WholeProgramCapture(settings, probes, print, limits)
    compile_fx = ModuleType("torch._inductor.compile_fx")
    compile_fx.fx_codegen_and_compile = work  # type: ignore[attr-defined]
    capture._count_backwards(compile_fx)
    with limits.limited() if is_in_a_frame else nullcontext():
        compile_fx.fx_codegen_and_compile(0.1)
    assert capture._budget.defers(CODE) is not is_in_a_frame  # the frame's own compile counts it


def fails() -> None:
    raise ValueError("of the compiler")


def test_processes_that_this_one_has_started_to_compile_count() -> None:
    before = compile_processes_ns()
    subprocess.run([sys.executable, "-c", "sum(range(10**7))"], check=True)
    assert compile_processes_ns() > before


def test_what_they_take_is_spent(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = iter([0, 10**9])
    monkeypatch.setattr("dynamo_core.capture.whole_program.budget.compile_processes_ns", lambda: next(taken))
    budget = Budget(0.5, Stream())  # type: ignore[arg-type]
    budget.call_backend(CODE, 4, lambda: None)
    assert budget.defers(CODE)
