"""The first sentence on a recording: what was compiled, or why nothing was; and how the program ended."""

from dataclasses import replace
from typing import Any

import pytest

from dynamo_core.analysis.summary import summarize
from dynamo_core.analysis.verdict import (
    backend_without_effect,
    capture_sentence,
    command_words,
    ending_words,
    not_compiled_because,
    origin_sentence,
    untaken_words,
    verdict,
    versions,
)
from dynamo_core.model import (
    AppliedOverride,
    AssignedBackend,
    CaptureDecision,
    ChangedSetting,
    CompileId,
    Compiling,
    DeclinedBy,
    Frame,
    Graph,
    GraphBreak,
    Place,
    Process,
    ProcessInfo,
    Recording,
    Replaced,
    Run,
)
from dynamo_core.shared.shown_paths import show_paths_from
from support.made import S, compiled, decided, of_one_process

AT = Place("/home/me/train.py", 3)
CAPTURED = decided()
OBSERVED = decided("observe", because="it calls torch.compile")


def said(recording: Recording) -> str:
    return verdict(recording, summarize(recording))


def graph(number: int = 1) -> Graph:
    return Graph(number, CompileId(0, 0), 0, None, "eager", 3, is_compiled=True)


def frame(outcome: str, reason: str | None = None, **more: Any) -> Frame:
    return Frame("f", AT, outcome, reason, outcome == "compiled", False, None, **more)  # type: ignore[arg-type]


def several(*processes: Process) -> Recording:
    return Recording(of_one_process().path, Run(exit_code=0), list(processes), len(processes), [])


def test_graphs_that_no_backend_took_are_counted_with_the_reason() -> None:
    declined = (DeclinedBy("/home/me/b.py:mine", "NotImplementedError: no\nmore"),)
    untaken, taken = (
        replace(graph(number), assigned_backend=AssignedBackend(by, None, declined))
        for number, by in enumerate((None, "eager"))
    )
    recording = of_one_process(graphs=[graph(), untaken, taken], compiles=[compiled(0, 1.5)])
    assert ", 1 graph that no backend took; compiling" in said(recording)
    assert untaken_words(recording) == "1 graph (b.py:mine: NotImplementedError: no)"
    assert untaken_words(of_one_process(graphs=[graph(), taken])) is None


def test_what_was_compiled_is_counted_with_what_it_took() -> None:
    assert said(of_one_process(graphs=[graph()], compiles=[compiled(0, 1.5), compiled(1, 0.5, "size")])) == (
        "1 graph, 3 ops, 0 graph breaks, 1 recompile; compiling took 2.00 s."
    )
    fell = of_one_process(graphs=[graph()], frames=[frame("failed"), frame("raised", "error")])
    assert "1 frame fell back to eager, 1 frame raised an error in the compiler; compiling took" in said(fell)
    typing = replace(frame("failed"), place=Place("/usr/lib/python3.11/typing.py", 7))
    alone = of_one_process(graphs=[graph()], frames=[typing])
    assert "1 frame of libraries fell back to eager" in said(alone)
    both = of_one_process(graphs=[graph()], frames=[typing, frame("failed")])
    assert "2 frames fell back to eager" in said(both)


def test_counts_of_several_processes_are_said_to_be_sums() -> None:
    (one,) = of_one_process(graphs=[graph()], compiles=[compiled(0, 1.0)]).processes
    (two,) = of_one_process(graphs=[graph()], compiles=[compiled(0, 3.0)]).processes
    idle = replace(one, graphs=[], compiles=[])
    assert said(several(one, two, idle)).endswith(
        "0 recompiles in 2 processes together; compiling took 4.00 s in all, 1.00 s to 3.00 s each."
    )
    ranks = several(replace(one, rank=0), replace(one, rank=1))
    assert said(ranks).endswith("in 2 ranks together; compiling took 2.00 s in all, 1.00 s each.")
    assert "2 processes together" in said(several(replace(one, rank=0), one))
    assert " together" not in said(several(one, idle))


def test_a_plain_trace_says_what_it_does_not_have() -> None:
    plain = Recording(of_one_process().path, None, [Process(of_one_process().path)], None, [])
    assert said(plain).endswith("recompiles: not recorded; compile time: not recorded.")
    assert origin_sentence(plain).startswith("A torch trace that dynamo did not record")
    plain.processes[0].compiles = [replace(compiled(0), fail_type="Unsupported")]
    assert ", 1 compile failed; compiling took" in said(plain)


def test_where_no_process_was_seen_it_says_why() -> None:
    nothing = Recording(of_one_process().path, Run(exit_code=0), [], 0, [])
    assert said(nothing).startswith("Nothing was recorded: no Python process started with our start-up code.")
    assert said(replace(nothing, python_processes=1)).startswith(
        "No Python process that could be seen imported torch"
    )
    ended = replace(nothing, run=Run(exit_code=1), python_processes=1)
    assert said(ended).startswith("The program ended with exit code 1 before any Python process")
    failed = replace(nothing, engine_failures=["no room", "other"], python_processes=1)
    assert said(failed) == "Nothing was recorded: no room."


def test_where_no_graph_was_compiled_it_says_how_far_it_came() -> None:
    begin = "torch was imported, but no graph was compiled. "
    hangs = of_one_process(Run(started_ns=0, ended_ns=9 * S), compiling=[Compiling(None, "f", AT, 3 * S)])
    assert said(hangs).startswith(f"{begin}It got no further than compiling f at /home/me/train.py:3")
    raised = of_one_process(frames=[frame("skipped"), frame("raised", "no way\nmore")])
    assert said(raised) == f"{begin}Compiling raised an error in the program: no way"
    tried = of_one_process(frames=[frame("skipped")] * 2)
    assert said(tried) == f"{begin}Dynamo tried 2 frames and compiled none of them."
    broken = of_one_process(frames=[frame("compiled")] * 2, breaks=[GraphBreak("no way", (), None)])
    assert said(broken) == f"{begin}Dynamo tried 2 frames: 1 graph break left no graph."
    never = said(of_one_process(captures=[CAPTURED]))
    assert never.startswith(f"{begin}No frame reached Dynamo: nothing that --capture loops takes")
    assert said(of_one_process(captures=[OBSERVED])) == (
        f"{begin}The program ran as it is, because it calls torch.compile."
    )


@pytest.mark.parametrize(
    ("captures", "sentence"),
    [
        ([], "How it was captured was not recorded."),
        ([CAPTURED], "Captured by policy 'loops' with backend 'inductor'."),
        (
            [decided(fallback_random=True)],
            "Captured by policy 'loops' with backend 'inductor', with eager's random numbers "
            "(fallback_random).",
        ),
        ([OBSERVED], "The program ran as it is, because it calls torch.compile."),
        ([OBSERVED, CAPTURED], "The program ran as it is, because it calls torch.compile."),
        ([CAPTURED, OBSERVED], "The program ran as it is, because it calls torch.compile."),
        (
            [CAPTURED, decided("failed", because="no room")],
            "Capture could not start: no room. The program ran eager.",
        ),
    ],
)
def test_how_it_was_captured(captures: list[CaptureDecision], sentence: str) -> None:
    assert capture_sentence(of_one_process(captures=captures, frames=[frame("skipped")])) == sentence


def test_nothing_was_captured() -> None:
    sentence = "Nothing was captured (policy 'loops', backend 'inductor')."
    assert capture_sentence(of_one_process(captures=[decided(fallback_random=True)])) == sentence


def test_a_backend_that_a_program_with_its_own_compiles_does_not_use() -> None:
    other = decided("observe", because="it calls torch.compile", backend="eager")
    assert capture_sentence(of_one_process(captures=[other])) == (
        "The program ran as it is, because it calls torch.compile. "
        "--backend eager had no effect: `--override backend=eager` replaces the program's own."
    )
    not_asked_for = decided("observe", because="--capture none", policy="none", backend="eager")
    assert backend_without_effect(of_one_process(captures=[not_asked_for])) == []
    captured = decided(backend="eager")
    assert backend_without_effect(of_one_process(captures=[captured, other])) == []


def test_a_run_that_options_have_changed_is_not_said_to_be_as_it_is() -> None:
    def ran(override: AppliedOverride, *settings: ChangedSetting) -> str:
        changes = {"overrides": [override], "changed_settings": list(settings)}
        return capture_sentence(of_one_process(captures=[OBSERVED], **changes)).partition(",")[0]

    overridden = AppliedOverride(("dynamic=True",), "f", AT, None, (Replaced("dynamic", "None", "True"),), 1)
    setting = ChangedSetting(change="dynamo.recompile_limit=64", was="8", now="64")
    assert ran(overridden, setting) == "The program ran as it is but for --override and --config"
    assert ran(replace(overridden, overrides=())) == "The program ran as it is but for --fullgraph"
    not_set = ChangedSetting(change="dynamo.none=1", problem="torch has no such setting")
    assert ran(replace(overridden, replaced=()), not_set) == "The program ran as it is"


def test_what_was_captured_before_the_program_compiled_for_itself_was_captured() -> None:
    captures = [CAPTURED, OBSERVED]
    own = frame("compiled", compiled_by=AT)
    assert capture_sentence(of_one_process(captures=captures, frames=[own])).startswith(
        "The program ran as it is"
    )
    assert capture_sentence(of_one_process(captures=captures, frames=[own, frame("compiled")])) == (
        "Captured by policy 'loops' with backend 'inductor', until it calls torch.compile; from then on "
        "the program ran as it is. What was captured until then is in the counts alone; `--capture none` "
        "leaves it out."
    )
    run = Run.of({"exit_code": 0, "settings": {"semantics": "compiled"}})
    compiled = of_one_process(run, captures=[CAPTURED], frames=[frame("compiled")])
    assert "(--semantics compiled)" in capture_sentence(compiled)


def test_of_many_processes_the_one_that_compiled_most_is_told() -> None:
    (launcher,) = of_one_process(captures=[OBSERVED]).processes
    (worker,) = of_one_process(captures=[CAPTURED], graphs=[graph()]).processes
    for order in ((launcher, worker), (worker, launcher)):
        assert capture_sentence(several(*order)).startswith("Captured")


def test_versions_are_named_once_each() -> None:
    (one,) = of_one_process(info=ProcessInfo(pid=1, python="3.11.7")).processes
    other = replace(one, torch_version="2.15.0")
    assert versions(several(one, one, other)) == "torch 2.13.0, torch 2.15.0, Python 3.11.7"
    assert versions(several(Process(one.stream))) == ""


@pytest.mark.parametrize(
    ("run", "words"),
    [
        (Run(exit_code=3, started_ns=S, ended_ns=4 * S), "ended with exit code 3 after 3.00 s"),
        (Run(exit_code=3, ended_ns=4 * S), "ended with exit code 3"),
        (
            Run(signal=9, started_ns=0, ended_ns=S),
            "was killed by SIGKILL after 1.00 s: the recording ends there",
        ),
        (Run(signal=99, started_ns=0, ended_ns=S), "was killed by 99 after 1.00 s: the recording ends there"),
        (Run(started_ns=0), "has not ended, or dynamo was killed: this recording is partial"),
    ],
)
def test_how_the_program_ended(run: Run, words: str) -> None:
    assert ending_words(run) == words


def test_a_program_that_still_runs_has_not_been_killed() -> None:
    assert ending_words(Run(started_ns=0), is_running=True).startswith("is still running")
    # The launcher that prints how its run ended still records to it.
    assert ending_words(Run(exit_code=3, ended_ns=S), is_running=True) == "ended with exit code 3"


def test_an_option_that_nobody_typed_is_not_named() -> None:
    captures = [decided("observe", because="--capture none")]
    assert (
        capture_sentence(of_one_process(captures=captures))
        == "The program ran as it is, because --capture none."
    )
    for run in (None, Run(started_by="environment")):
        (sentence, _) = capture_sentence(of_one_process(run, captures=captures)).split(":")
        assert sentence == "The program ran as it is"


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (["/opt/venv/bin/python3.12", "train.py", "--name", "a b"], "python3.12 train.py --name 'a b'"),
        (["/usr/bin/torchrun", "train.py"], "/usr/bin/torchrun train.py"),
        (None, ""),
    ],
)
def test_a_python_is_named_without_its_folder(command: list[str] | None, words: str) -> None:
    assert command_words(Run(command=command)) == words


def test_the_place_that_calls_torch_compile_is_shown_from_the_folder() -> None:
    known = decided("observe", because="/work/train.py:7 calls torch.compile")
    show_paths_from("/work")
    try:
        sentence = origin_sentence(of_one_process(captures=[known]))
    finally:
        show_paths_from(None)
    assert sentence == "The program ran as it is, because train.py:7 calls torch.compile."


def test_frames_that_fell_back_at_the_recompile_limit_are_told_from_others() -> None:
    def said(*reasons: str) -> str:
        frames = [Frame("f", AT, "failed", each, False, False, CompileId(0, 8)) for each in reasons]
        known = of_one_process(frames=frames, graphs=[Graph(1, CompileId(0, 0), 0, "f", "eager", 1)])
        return verdict(known, replace(summarize(known), graphs=1))

    limit = "Unsupported: Dynamo recompile limit exceeded"
    assert "2 frames fell back to eager (1 of them at the recompile limit)" in said(
        limit, "Unsupported: print"
    )
    assert "1 frame fell back to eager;" in said(limit) and "limit" not in said("Unsupported: print")


def test_a_graph_that_was_not_compiled_has_the_error_of_its_backend() -> None:
    def because(reason: str | None) -> str:
        frame = Frame("f", AT, "raised", reason, False, False, CompileId(0, 0))
        process = of_one_process(frames=[frame]).processes[0]
        return not_compiled_because(Graph(1, CompileId(0, 0), 0, "f", "mine", 1), process)

    failed = "BackendCompilerFailed: backend='mine' raised:\n"
    assert because(failed + "NotImplementedError: no cos\nmore") == (
        "the backend did not compile it: it raised NotImplementedError: no cos"
    )
    assert because(failed + "AssertionError: compiler_fn did not return callable").endswith(
        ": what it returned cannot be called, as None cannot"
    )
    assert because("RuntimeError: guards") == "it was not compiled: RuntimeError: guards"
    assert because(None) == "the backend did not compile it"
