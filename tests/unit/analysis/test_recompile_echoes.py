"""Which findings are consequences of another one, and where they stand."""

from dataclasses import replace
from pathlib import Path

from dynamo_core.analysis.figures import Figures
from dynamo_core.analysis.recompile_echoes import below_breaks, compile_key, for_a_name, in_loops
from dynamo_core.analysis.recompiles import frames_recompiled
from dynamo_core.findings import Cost, Draft, Evidence, Figure
from dynamo_core.findings.build import by_identity, of_identities, ranked
from dynamo_core.findings.kinds import Kind
from dynamo_core.model import CompileId, Frame, GraphBreak, Place, Process, Recording, StackFrame
from support.made import compiled
from support.made_causes import FILE, entry, process, size

PROCESS = Process(Path("s.log"))


def draft(
    kind: Kind, line: int, *compiles: CompileId, seconds: float = 1.0, brings: tuple[CompileId, ...] = ()
) -> Draft:
    return Draft(
        kind,
        key=(),
        title=f"line {line}",
        cause="",
        processes=(PROCESS,),
        place=Place("a.py", line),
        source=str(line),
        cost=Cost(saves_at_most=Figure(seconds, "measured")),
        evidence=Evidence(tuple(map(str, compiles))),
        brings_about=frozenset(compile_key(PROCESS.stream, each) for each in brings),
    )


FIRST, SECOND, THIRD = CompileId(1, 1), CompileId(1, 2), CompileId(2, 1)


def reasons(*drafts: Draft) -> dict[str, str | None]:
    """The title of what each finding is because of, by its own title, in the order in which they stand."""
    found = ranked(of_identities(by_identity(drafts)))
    titles = {each.identity: each.title for each in found}
    return {each.title: None if each.because_of is None else titles[each.because_of] for each in found}


def test_recompiles_that_all_follow_from_a_finding_stand_behind_it_however_much_they_cost() -> None:
    cause = draft("graph break", 3, CompileId(0, 0), brings=(FIRST, SECOND))
    follower = draft("recompile", 4, FIRST, SECOND, seconds=9.0)
    between = draft("recompile", 5, THIRD, seconds=5.0)
    assert list(reasons(cause, follower, between).items()) == [
        ("line 5", None),
        ("line 3", None),
        ("line 4", "line 3"),
    ]


def test_what_follows_only_in_part_or_from_several_is_a_finding_of_its_own() -> None:
    follower = draft("recompile", 4, FIRST, SECOND)
    of_one = draft("graph break", 3, brings=(FIRST,))
    assert reasons(of_one, follower)["line 4"] is None
    assert reasons(of_one, draft("graph break", 2, brings=(SECOND,)), follower)["line 4"] is None
    assert reasons(draft("recompile", 4, FIRST, brings=(FIRST,)))["line 4"] is None, "not of itself"


def test_a_break_is_no_consequence() -> None:
    above = draft("recompile", 1, CompileId(0, 1), brings=(FIRST,))
    assert reasons(above, draft("graph break", 4, FIRST))["line 4"] is None
    calls = replace(above, calls=above.brings_about)
    inner = draft("graph break", 4, FIRST, brings=(FIRST,))
    assert reasons(inner, calls)["line 4"] == "line 1", "what its line calls, whatever that brings about"


def test_what_a_frame_that_runs_eager_calls_is_recompiled_because_of_it() -> None:
    fallback = Frame("forward", Place("net.py", 9), "failed", "a break", False, False, CompileId(5, 0))
    call = StackFrame(Place("net.py", 12), "forward", "x = block(x)")
    block = Frame(
        "block", Place("net.py", 3), "compiled", None, True, False, CompileId(0, 1), called_from=call
    )

    def below(
        reason: str, *frames: Frame, broken: tuple[GraphBreak, ...] = (), where: Place | None = None
    ) -> list[str]:
        run = process([reason], frames=list(frames), breaks=list(broken))
        run.compiles[:] = [replace(each, place=where or each.place) for each in run.compiles]
        figures = Figures(Recording(Path("r"), None, [run], 1, []))
        return [compile_id for _, compile_id in figures.recompiles_below([run], [fallback])]

    needs_gradients = "0/0: tensor 'x' requires_grad mismatch. expected requires_grad=0"
    assert below(needs_gradients, fallback, block) == ["0/1"]
    left = replace(fallback, outcome="skipped", limit="--semantics")
    assert below(needs_gradients, left, block) == ["0/1"], "it was left to eager"
    assert below(needs_gradients, replace(left, limit=None), block) == []
    assert below(needs_gradients, block) == [], "its caller is compiled"
    assert below(size(4, 5), fallback, block) == [], "a size would have been met in the caller, too"
    selected, printed = (
        GraphBreak(kind, (call,), CompileId(5, 0)) for kind in ("Dynamic shape operator", "print")
    )
    assert below(size(4, 5), fallback, block, broken=(selected,)) == ["0/1"], "no size decides it"
    assert below(size(4, 5), fallback, block, broken=(printed,)) == []
    librarys = Place("/venv/lib/python3.11/site-packages/torch/optim/swa_utils.py", 3)
    assert below(size(4, 5), fallback, block, where=librarys) == ["0/1"], "nobody compiles it by itself"


def test_constants_of_calls_are_recompiled_for_because_of_what_keeps_the_function_out_of_their_graphs() -> (
    None
):
    entries = [entry(1, "L['share'] == 0.75", source="L['share']")]

    def below(text: str) -> tuple[list[str], list[str]]:
        call = StackFrame(Place("net.py", 12), "forward", text)
        fallback = Frame("forward", Place("net.py", 9), "failed", "a break", False, False, CompileId(5, 0))
        of_f = Frame(
            "f", Place("net.py", 3), "compiled", None, True, False, CompileId(0, 1), called_from=call
        )
        run = process(["0/0: L['share'] == 0.25"], frames=[fallback, of_f], recompiled_entries=entries)
        figures = Figures(Recording(Path("r"), None, [run], 1, []))
        stack = tuple(StackFrame(Place(FILE, line), name, "") for line, name in ((12, "forward"), (4, "f")))
        met = GraphBreak("print", stack, CompileId(5, 0))
        by_the_break = below_breaks([met], figures.recompiled, run.stream)
        by_the_fallback = figures.recompiles_below([run], [fallback])
        return [each for _, each in by_the_break], [each for _, each in by_the_fallback]

    assert below("low, high = f(x, 0.25), f(x, 0.75)") == (["0/1"], ["0/1"])
    assert below("return f(x, self.share)") == (["0/1"], ["0/1"])
    assert below("return f(x, self.other), g(x, self.share)") == ([], [])
    assert below("low, high = f(x, share), g(x, 0.25, 0.75)") == ([], []), (
        "the values may be the caller's own"
    )


def test_what_two_lines_call_is_recompiled_because_of_the_break_that_keeps_it_out_of_their_graphs() -> None:
    def below(*lines: int) -> list[str]:
        frames = [
            Frame(
                "f", Place("net.py", 3), "compiled", None, True, False, CompileId(0, number), called_from=call
            )
            for number, line in enumerate(lines)
            for call in [StackFrame(Place("net.py", line), "forward", "f(x)")]
        ]
        run = process([size(4, 5)], frames=frames)
        stack = tuple(StackFrame(Place(FILE, line), name, "") for line, name in ((12, "forward"), (4, "f")))
        met = GraphBreak("print", stack, CompileId(5, 0))
        recompiled = frames_recompiled([run])
        return [each for _, each in below_breaks([met], recompiled, run.stream)]

    assert below(12, 13) == ["0/1"]
    assert below(12, 12) == [], "one caller's size varies"


def test_what_each_line_gives_by_a_closure_is_recompiled_for_because_of_the_break_in_the_function() -> None:
    def below(*lines: int) -> list[str]:
        frames = [
            Frame(
                "f", Place("net.py", 3), "compiled", None, True, False, CompileId(0, number), called_from=call
            )
            for number, line in enumerate(lines)
            for call in [StackFrame(Place("net.py", line), "forward", "self.layer(x)")]
        ]
        entries = [entry(number, f"L['name'] == {number + 1}", source="L['name']") for number in (1, 2)]
        run = process(
            ["0/0: L['name'] == 1"], ["0/1: L['name'] == 2"], frames=frames, recompiled_entries=entries
        )
        stack = tuple(StackFrame(Place(FILE, line), name, "") for line, name in ((12, "forward"), (4, "f")))
        met = GraphBreak("print", stack, CompileId(5, 0))
        recompiled = frames_recompiled([run])
        return sorted(each for _, each in below_breaks([met], recompiled, run.stream))

    assert below(12, 13, 14) == ["0/1", "0/2"]
    assert below(12, 12, 12) == [], "the line's value varies"


def test_what_a_function_is_recompiled_for_follows_from_numbers_that_a_break_in_it_draws() -> None:
    run = process(["0/0: L['rate'] == 0.1"])
    stack = tuple(StackFrame(Place(FILE, line), name, "") for line, name in ((12, "forward"), (4, "f")))
    met = GraphBreak("numpy", stack, CompileId(5, 0))
    recompiled = frames_recompiled([run])
    assert [each for _, each in below_breaks([met], recompiled, run.stream, of_numbers=True)] == ["0/1"]
    assert not below_breaks([met], recompiled, run.stream)


def test_what_counts_for_a_report_alone_is_found_by_its_name() -> None:
    run = process(["0/0: self.calls == 1"])
    recompiled = frames_recompiled([run])

    def found(name: str, function: str = "f") -> list[str]:
        return [each for _, each in for_a_name({name}, (FILE, function), recompiled, run.stream)]

    assert found("calls") == ["0/1"]
    assert not found("every") and not found("calls", "g")


def test_what_a_loop_gives_that_runs_eager_for_a_break_is_recompiled_for_because_of_that() -> None:
    begin = compiled(0).place
    assert begin is not None
    broke = GraphBreak("random", (StackFrame(Place(FILE, begin.line + 1), "f", "random()"),), CompileId(0, 0))
    eager = Frame("forward", Place(FILE, 90), "failed", "graph break in loop", False, False, CompileId(5, 0))

    def found(reason: str, begins: Place = begin, why: str = "graph break in loop") -> list[str]:
        frames = [Frame("f", begins, "compiled", None, True, False, CompileId(0, 0))]
        recompiled = frames_recompiled([process([reason], frames=frames)])
        stream = recompiled[0].process.stream
        return [each for _, each in in_loops([broke], [replace(eager, reason=why)], recompiled, stream)]

    assert found(size(4, 5)) == ["0/1"]
    assert found("0/0: self.stride == (1,)") == ["0/1"]
    assert found("0/0: self.calls == 1") == [], "a number that it keeps may vary from call to call"
    assert found("0/0: GLOBAL_STATE changed: grad_mode") == []
    assert found(size(4, 5), why="a break") == []
    assert found(size(4, 5), Place(FILE, begin.line + 1)) == [], "a method of the same name"


def test_what_several_lines_lead_to_by_another_function_follows_from_the_break_in_it() -> None:
    """Only the outer function is called from two lines; the inner one, which breaks, from one."""
    begin = compiled(0).place
    assert begin is not None
    outer = Place(FILE, begin.line + 20)

    def below(*lines: int) -> list[str]:
        calls = [StackFrame(Place(FILE, 90 + line), "forward", "outer(x)") for line in lines]
        frames = [
            Frame("outer", outer, "compiled", None, True, False, CompileId(5, n), called_from=call)
            for n, call in enumerate(calls)
        ]
        inside = StackFrame(Place(FILE, outer.line + 1), "outer", "f(x)")
        frames.append(Frame("f", begin, "compiled", None, True, False, CompileId(0, 0), called_from=inside))
        recompiled = frames_recompiled([process(["0/0: L['n'] == 1"], frames=frames)])
        stack = (calls[0], inside, StackFrame(Place(FILE, begin.line + 1), "f", "item()"))
        met = GraphBreak("item", stack, CompileId(4, 0))
        return [each for _, each in below_breaks([met], recompiled, recompiled[0].process.stream)]

    assert below(1, 2) == ["0/1"]
    assert below(1, 1) == [], "one line's value varies"
    recompiled = frames_recompiled(
        [
            process(
                ["0/0: len(values) == 2"],
                frames=[
                    Frame(
                        "f",
                        begin,
                        "compiled",
                        None,
                        True,
                        False,
                        CompileId(0, 0),
                        called_from=StackFrame(Place(FILE, line), "forward", "f(x)"),
                    )
                    for line in (90, 91)
                ],
            )
        ]
    )
    itself = GraphBreak(
        "item",
        (
            StackFrame(Place(FILE, 90), "forward", "f(x)"),
            StackFrame(Place(FILE, begin.line + 1), "f", "item()"),
        ),
        CompileId(4, 0),
    )
    assert below_breaks([itself], recompiled, recompiled[0].process.stream), "what is called so itself"
