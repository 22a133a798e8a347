"""Compiling that does not pay back: found by what the graphs ran, not by how fast the machine is."""

from dataclasses import replace

import pytest

from dynamo_core.findings import find
from dynamo_core.model import CompileId, Run
from dynamo_core.model.interventions import AppliedOverride, Replaced
from support.made import of_one_process
from support.made_findings import graph, recompile, times


def test_compiling_that_took_longer_than_the_graphs_ran_is_found_however_fast_the_machine_is() -> None:
    def found(compiling: float) -> list[str]:
        called = graph(1, CompileId(0, 0))
        called.times = times(2, 1e-3)
        again = replace(recompile(0, compiling), recompile_reason=None)
        return [each.kind for each in find(of_one_process(graphs=[called], compiles=[again]))]

    assert found(0.05) == found(5.0) == ["never pays back"]
    assert found(0.0019) == [], "not as long as the graphs ran"


@pytest.mark.parametrize(("exit_code", "kinds"), [(0, ["never pays back"]), (1, [])])
def test_how_long_the_graphs_of_a_program_that_failed_would_have_run_is_not_known(
    exit_code: int, kinds: list[str]
) -> None:
    called = graph(1, CompileId(0, 0))
    called.times = times(2, 1e-3)
    compiled = replace(recompile(0, 5.0), recompile_reason=None)
    recording = of_one_process(Run(exit_code=exit_code), graphs=[called], compiles=[compiled])
    assert [each.kind for each in find(recording)] == kinds


@pytest.mark.parametrize(("calls", "words"), [(0, " in all"), (2, " in all, forward and backward")])
def test_a_backward_that_was_compiled_and_never_called_did_not_run(calls: int, words: str) -> None:
    called = replace(graph(1, CompileId(0, 0)), times=times(2, 1e-3), backward=times(calls, 1e-3))
    (found,) = find(of_one_process(graphs=[called], compiles=[replace(recompile(), recompile_reason=None)]))
    assert found.title.endswith(words)


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("compiling", [5.0, 0.0001])
def test_a_backend_that_generates_no_code_never_pays_back(backend: str, compiling: float) -> None:
    called = replace(graph(1, CompileId(0, 0)), times=times(2, 1e-3), backend=backend)
    compiled = replace(recompile(0, compiling), recompile_reason=None)
    (found,) = find(of_one_process(graphs=[called], compiles=[compiled]))
    assert found.cause == f"it cannot pay back: the backend `{backend}`, for debugging, generates no code"
    assert found.remedies[0].text.startswith(f'leave out `backend="{backend}"`')


def test_a_backend_that_dynamo_run_chose_is_no_reason() -> None:
    called = replace(graph(1, CompileId(0, 0)), times=times(2, 1e-3), backend="eager")
    compiled = replace(recompile(0, 5.0), recompile_reason=None)
    recording = of_one_process(graphs=[called], compiles=[compiled])
    recording.processes[0].interventions.overrides.append(
        AppliedOverride(
            ("0/0:backend=eager",), "f", None, None, (Replaced("backend", "inductor", "eager"),), 1
        )
    )
    (found,) = find(recording)
    assert found.cause.startswith("it pays back in this run only if")
