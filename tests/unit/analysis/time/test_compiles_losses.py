"""What compiles cost, what of that came to nothing, and what of a window ran inside compiled graphs."""

from dataclasses import replace

from dynamo_core.analysis.time.compiles import Loss, compile_costs, seconds_of, wasted_compiles
from dynamo_core.analysis.time.wall import coverage
from dynamo_core.model import (
    CacheLookup,
    Compile,
    CompileId,
    EagerOperator,
    Frame,
    GraphPart,
    Phase,
    Place,
    Process,
    ProfileWindow,
    WindowKernel,
    WindowPart,
)
from support.made import MS, compiled, of_one_process

FIRST, SECOND, THIRD = (CompileId(0, number) for number in range(3))
PLACE = Place("/home/me/train.py", 3)


def one(**fields: object) -> Process:
    return of_one_process(**fields).processes[0]


def metrics(number: int, **fields: object) -> Compile:
    return replace(compiled(number), **fields)  # type: ignore[arg-type]


def phase(name: str, milliseconds: int | None, *children: Phase, **more: object) -> Phase:
    end = None if milliseconds is None else (1 + milliseconds) * MS
    fields = {"compile_id": FIRST, "children": children, **more}
    return Phase(name, MS, end, **fields)  # type: ignore[arg-type]


def frame(outcome: str, reason: str | None = None, of: CompileId | None = FIRST) -> Frame:
    return Frame("g", PLACE, outcome, reason, False, False, of)  # type: ignore[arg-type]


def losses(process: Process) -> tuple[list[Loss], list[Loss], list[Loss]]:
    found = wasted_compiles(process, compile_costs(process))
    return found.restarts, found.failed_to_compile, found.recompiles


def test_a_compile_that_never_began_again_lost_nothing() -> None:
    assert losses(one(compiles=[compiled(0)])) == ([], [], [])


def test_all_attempts_but_the_last_are_lost() -> None:
    attempts = [phase(f"compile_attempt_{n}", 10 * (n + 1)) for n in range(3)]
    process = one(compiles=[compiled(0)], phases=[phase("dynamo", 90, *attempts)])
    ((restart,), failed_to_compile, recompiles) = losses(process)
    assert (restart.seconds, restart.reason, failed_to_compile, recompiles) == (0.03, None, [], [])


def test_a_restart_without_timed_attempts_has_torchs_own_time_and_each_reason_in_a_line() -> None:
    again = metrics(0, restart_reasons=("graph break\nmore", "size"), seconds_before_restart=0.5)
    ((restart,), _, _) = losses(one(compiles=[again]))
    assert restart == Loss(FIRST, "f", again.place, 0.5, "graph break; size")


def test_a_backward_has_no_restarts() -> None:
    assert losses(one(compiles=[metrics(0, is_forward=False, restart_reasons=("x",))])) == ([], [], [])


def test_what_was_given_up_is_in_no_other_list() -> None:
    bad = metrics(0, restart_reasons=("x",), recompile_reason="size", seconds=2.0)
    restarts, (failed_to_compile,), recompiles = losses(
        one(compiles=[bad], frames=[frame("failed", "why\nmore")])
    )
    assert (restarts, recompiles) == ([], [])
    assert failed_to_compile == Loss(FIRST, "g", PLACE, 2.0, "why")


def test_a_frame_that_was_skipped_is_given_up_and_one_that_was_compiled_or_has_no_number_is_not() -> None:
    frames = [frame("skipped"), frame("compiled", of=SECOND), frame("failed", of=None)]
    _, (failed_to_compile,), _ = losses(one(frames=frames))
    assert (failed_to_compile.compile_id, failed_to_compile.seconds, failed_to_compile.reason) == (
        FIRST,
        None,
        None,
    )


def test_without_frames_a_compile_that_failed_is_given_up_for_its_reason_or_else_its_kind() -> None:
    failed = [
        metrics(0, fail_type="E", fail_reason="why"),
        metrics(1, fail_type="E"),
        metrics(2, fail_reason="so", seconds=3.0),
        metrics(3, fail_type="E", is_forward=False),
    ]
    _, failed_to_compile, _ = losses(one(compiles=failed))
    assert [(each.compile_id, each.reason) for each in failed_to_compile] == [
        (THIRD, "so"),
        (FIRST, "why"),
        (SECOND, "E"),
    ]


def test_a_recompile_costs_its_backward_too_and_the_dearest_comes_first() -> None:
    compiles = [
        compiled(1, 1.0, "small\nmore"),
        compiled(2, 2.0, "large"),
        metrics(2, is_forward=False, seconds=0.5),
        metrics(3, recompile_reason="untimed", seconds=None),
    ]
    _, _, recompiles = losses(one(compiles=compiles))
    assert [(each.seconds, each.reason) for each in recompiles] == [
        (2.5, "large"),
        (1.0, "small"),
        (None, "untimed"),
    ]
    assert seconds_of(recompiles) == 3.5
    assert seconds_of(recompiles[2:]) is seconds_of([]) is None


def test_a_compile_costs_what_torch_says_or_else_its_phases() -> None:
    process = one(compiles=[metrics(0, seconds=None)], phases=[phase("dynamo", 90), phase("dynamo", 10)])
    assert [cost.seconds for cost in compile_costs(process)] == [0.1]
    process.compiles = [compiled(0, 0.3)]
    assert [cost.seconds for cost in compile_costs(process)] == [0.3]


def test_the_costliest_compile_is_first_and_what_nothing_timed_last() -> None:
    compiles = [metrics(0, seconds=None), compiled(1, 0.0), compiled(2, 5.0)]
    assert [cost.seconds for cost in compile_costs(one(compiles=compiles))] == [5.0, 0.0, None]


def test_of_two_metrics_of_a_compile_the_first_count() -> None:
    (cost,) = compile_costs(one(compiles=[compiled(0, 1.0), compiled(0, 2.0)]))
    assert cost.seconds == 1.0


def test_what_is_compiled_outside_a_frame_is_named_by_its_phase() -> None:
    outside = phase("inductor_compile", 10, compile_id=None)
    (cost,) = compile_costs(one(phases=[outside], compiles=[metrics(0, compile_id=None, seconds=None)]))
    assert (cost.name, cost.place) == ("inductor_compile", None)
    (cost,) = compile_costs(one(phases=[phase("dynamo", 1, compile_id=CompileId(None, None, 2))]))
    assert cost.name == "compiled autograd"


def with_lookups(*outcomes: str) -> str | None:
    lookups = [CacheLookup("fx_graph_cache", outcome, FIRST) for outcome in outcomes]
    (cost,) = compile_costs(one(compiles=[compiled(0)], lookups=lookups))
    return cost.temperature


def test_a_compile_is_cached_cold_or_in_part() -> None:
    assert with_lookups("hit", "hit") == "cached"
    assert with_lookups("miss") == with_lookups("bypass") == "cold"
    assert with_lookups("hit", "bypass") == "partly cached"
    assert with_lookups("disabled") is with_lookups() is None


def test_look_ups_of_phases_stand_before_those_recorded_and_a_backward_has_its_phases_alone() -> None:
    lookups = [CacheLookup("fx_graph_cache", "miss", FIRST)]
    inner = phase("inductor_compile", 5, cache_state="hit")
    process = one(
        compiles=[compiled(0), metrics(0, is_forward=False, seconds=0.5)],
        phases=[phase("backend_compile", 9, inner, inner, cache_state="miss")],
        lookups=lookups,
    )
    forward, backward = compile_costs(process)
    assert forward.lookups == {"aotautograd_cache": ("miss",), "fx_graph_cache": ("hit", "hit")}
    assert (backward.is_backward, backward.lookups, backward.is_cut_off) == (True, None, False)
    process.phases = [phase("dynamo", None)]
    forward, _ = compile_costs(process)
    assert (forward.lookups, forward.is_cut_off) == ({"fx_graph_cache": ("miss",)}, True)


def window(
    parts: tuple[WindowPart, ...], eager: tuple[EagerOperator, ...], kernels: tuple[WindowKernel, ...] | None
) -> ProfileWindow:
    return ProfileWindow(1, 5, 1.0, 0, 1, 0, parts, (), eager, kernels, 0, None)


def test_the_share_of_graphs_is_of_what_the_window_saw_and_none_where_it_saw_nothing() -> None:
    part = GraphPart(1, False)
    parts = tuple(WindowPart(part, 2, 1.0, 3, 1.0, 1, 1.0, 0, None) for _ in range(2))
    eager = (EagerOperator("aten::add", None, 2, 6.0, 0.5),)
    kernels = tuple(
        WindowKernel("k", of, "cuda:0", 1, seconds, None) for of, seconds in ((part, 1.0), (None, 4.0))
    )
    assert coverage(window(parts, eager, kernels)) == {"time": 0.25, "operators": 0.75, "kernel_time": 0.2}
    assert coverage(window((), (), None)) == {"time": None, "operators": None, "kernel_time": None}
