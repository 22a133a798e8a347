"""What became of the program, in a sentence or two."""

import os
import re
import shlex
import signal as signals
from collections.abc import Iterator, Sequence
from pathlib import PurePath

from ..model import Compiling, Graph, Process, Recording, Run
from ..shared.quick_dataclass import dataclass
from ..shared.settings import DEFAULT_BACKEND, FULLGRAPH_FIRST, SEMANTICS_COMPILED
from ..shared.shown_paths import path_below
from .other_counts import why_counts_differ
from .recompiles import is_recompile_limit
from .source_lines import is_library
from .summary import (
    Summary,
    break_identity,
    breaks_recorded,
    failed_to_compile,
    fell_back,
    raised_error,
    recorded,
    summarize,
)
from .words import (
    compile_label,
    first_line,
    frame_name,
    graph_frame,
    number,
    place,
    process_title,
    seconds,
    time_of_day,
)

# What a program was in the middle of when its recording ends: a compile, or a call of a compiled graph.


def in_progress_lines(recording: Recording) -> list[str]:
    """A line for each compile and each call that began and did not end, or was interrupted."""
    return [line for process in recording.processes for line in _lines(process, recording)]


def _lines(process: Process, recording: Recording) -> Iterator[str]:
    where = process_title(process, recording)
    for compiling in process.interrupted:
        by = f"interrupted by {compiling.interrupted_by}"
        yield f"{_compiling(compiling, compiling.interrupted_ns)}, {by}{where}"
    if process.runtime.end is not None:
        return
    ended_ns = recording.run.ended_ns if recording.run else None
    for compiling in process.compiling:
        yield _compiling(compiling, ended_ns) + where
    for graph in process.graphs:
        for times, what in ((graph.times, "running"), (graph.backward, "running its backward")):
            if times is not None and times.running_since_ns is not None:
                since = _since(times.running_since_ns, ended_ns, is_exact=times.is_running_since_exact)
                before = f"after {number(times.calls, 'call')}" if times.calls else "its first call"
                yield f"{what} {_graph(graph)} {since}, {before}{where}"


def compiling_words(compiling: Compiling) -> str:
    """Which frame, and who has it."""
    who = "its backward" if compiling.is_backward else "traced by Dynamo"
    if compiling.backend is not None:
        ops = "" if compiling.ops is None else f", {number(compiling.ops, 'op')}"
        who = f"graph {compiling.graph}{ops}, in backend {compiling.backend}"
    label = compile_label(compiling.compile_id)
    return f"{frame_name(compiling.name)} at {place(compiling.place)} {label}: {who}"


def _compiling(compiling: Compiling, ended_ns: int | None) -> str:
    since = _since(compiling.backend_ns or compiling.began_ns, ended_ns)
    line = f"compiling {compiling_words(compiling)} {since}"
    if compiling.backend_ns is not None and ended_ns is not None:
        line += f" ({seconds((ended_ns - compiling.began_ns) / 1e9)} in all)"
    return line


def _graph(graph: Graph) -> str:
    label = compile_label(graph.compile_id)
    return f"graph {graph.number} {label} of {graph_frame(graph)} at {place(graph.frame_place)}"


def _since(began_ns: int, ended_ns: int | None, *, is_exact: bool = True) -> str:
    """`began_ns` is the earliest moment at which it can have begun, if not the exact one."""
    if ended_ns is None:  # it may go on still
        at_earliest = "" if is_exact else " at the earliest"
        return f"since {time_of_day(began_ns)}{at_earliest}"
    return f"for {'' if is_exact else 'at most '}{seconds(max(0, ended_ns - began_ns) / 1e9)}"


# What became of the program, in a sentence or two.


def verdict(recording: Recording, summary: Summary) -> str:
    """The first thing to know about a recording."""
    if recording.run is not None and not recording.processes:
        return _nothing_recorded(recording)
    if summary.graphs == 0 and recording.run is not None and not _is_part(recording):
        return "torch was imported, but no graph was compiled. " + _why_no_graph(recording)
    parts = [
        number(summary.graphs, "graph"),
        number(summary.ops, "op"),
        number(summary.graph_breaks, "graph break"),
        number(summary.recompiles, "recompile"),
    ]
    if summary.frames_fell_back:
        whose = " of libraries" if _are_of_libraries(recording) else ""
        at_limit = fell_back_at_the_limit(recording, summary.frames_fell_back)
        parts.append(f"{number(summary.frames_fell_back, 'frame')}{whose} fell back to eager{at_limit}")
    if summary.frames_left_eager:
        parts.append(f"{number(summary.frames_left_eager, 'frame')} left eager by dynamo run")
    if untaken := _untaken(recording):
        parts.append(f"{number(len(untaken), 'graph')} that no backend took")
    if summary.frames_raised:
        parts.append(f"{number(summary.frames_raised, 'frame')} raised an error in the compiler")
    elif summary.failed_compiles and summary.frames_fell_back is None:
        parts.append(f"{number(summary.failed_compiles, 'compile')} failed")
    several = _that_compiled(recording)
    together = counted_together(recording)
    counts = ", ".join(parts) + (f" in {together}" if together else "")
    if summary.compile_time_s is None:
        return f"{counts}; compile time: not recorded."
    each = f" in all, {_each(several)} each" if len(several) > 1 else ""
    return f"{counts}; compiling took {seconds(summary.compile_time_s)}{each}."


def _are_of_libraries(recording: Recording) -> bool:
    """Whether no frame that fell back is in a file of the program's."""
    frames = (frame for process in recording.processes for frame in process.frames if fell_back(frame))
    return all(frame.place is not None and is_library(frame.place) for frame in frames)


def counted_together(recording: Recording) -> str:
    """The processes whose counts are added up: `2 ranks together`; "" where one process compiled."""
    processes = _that_compiled(recording)
    if len(processes) < 2:
        return ""
    are_ranks = len({process.rank for process in processes} - {None}) == len(processes)
    what = ("rank", "ranks") if are_ranks else ("process", "processes")
    return f"{number(len(processes), *what)} together"


def _that_compiled(recording: Recording) -> list[Process]:
    return list(filter(compiled_anything, recording.processes))


def compiled_anything(process: Process) -> bool:
    """Whether it has a compile: a launcher of ranks compiles nothing itself."""
    return bool(process.compiles or process.graphs)


def _each(processes: Sequence[Process]) -> str:
    """What compiling took in the process that took least, and in the one that took most."""
    spent = [sum(compile_.seconds or 0.0 for compile_ in process.compiles) for process in processes]
    low, high = seconds(min(spent)), seconds(max(spent))
    return low if low == high else f"{low} to {high}"


def _is_part(recording: Recording) -> bool:
    return any(process.whole is not None for process in recording.processes)


def _nothing_recorded(recording: Recording) -> str:
    if recording.engine_failures:
        return f"Nothing was recorded: {recording.engine_failures[0]}."
    if not recording.python_processes:
        return (
            "Nothing was recorded: no Python process started with our start-up code. "
            "Was it run with -I, -E or -S, or with PYTHONPATH cleared?"
        )
    run = recording.run
    if run is not None and run.exit_code:
        ended = f"The program ended with exit code {run.exit_code}"
        return f"{ended} before any Python process that could be seen imported torch."
    return "No Python process that could be seen imported torch, so there is nothing to compile."


def _why_no_graph(recording: Recording) -> str:
    in_progress = in_progress_lines(recording)
    if in_progress:
        return f"It got no further than {in_progress[0]}."
    frames = [frame for process in recording.processes for frame in process.frames]
    raised = [frame for frame in frames if raised_error(frame)]
    if raised:
        return f"Compiling raised an error in the program: {first_line(raised[0].reason)}"
    breaks = sum(len(process.breaks) for process in recording.processes)
    if frames and breaks:
        return f"Dynamo tried {number(len(frames), 'frame')}: {number(breaks, 'graph break')} left no graph."
    if frames:
        return f"Dynamo tried {number(len(frames), 'frame')} and compiled none of them."
    unused = [each for process in recording.processes for each in process.unused_compiles]
    if unused:
        first = unused[0]
        made, at = f"What torch.compile made of {first.function}", place(first.line.place)
        if first.why == "dispatch mode":
            return f"{made} runs eager since its call at {at}."
        what = "was never called" if first.why == "never called" else "never ran compiled"
        return f"{made} at {at} {what}."
    decisions = [process.capture for process in recording.processes if process.capture]
    policies = [decision.policy for decision in decisions if decision.decision == "capture"]
    if policies:
        takes = f"--capture {policies[0]} takes"
        return (
            f"No frame reached Dynamo: nothing that {takes} was given a tensor (--capture all takes every "
            "frame), or torch._dynamo.config.disable is set."
        )
    return capture_sentence(recording)


def capture_sentence(recording: Recording) -> str:
    """Whether the program compiled for itself or we compiled it, and on what grounds."""
    parts = [process for process in recording.processes if process.interventions.captures]
    if not parts:
        return "How it was captured was not recorded."
    # A launcher of ranks compiles nothing itself.
    busiest = max(
        parts, key=lambda each: (len(each.compiled_graphs), each.rank is not None, len(each.frames))
    )
    first, last = busiest.interventions.captures[0], busiest.interventions.captures[-1]
    if last.decision == "failed":
        return f"Capture could not start: {last.because}. The program ran eager."
    if first.decision == "observe" or (last.decision == "observe" and not _was_captured(busiest)):
        because = (first if first.decision == "observe" else last).because
        is_typed = recording.run is not None and recording.run.has_launcher
        if because == "--capture none" and not is_typed:  # as in a notebook
            return f"The program {_ran(recording)}: what is compiled is what it compiles itself."
        sentence = f"The program {_ran(recording)}, because {path_below(because or '')}."
        return " ".join([sentence, *backend_without_effect(recording)])
    if not any(process.frames or process.graphs for process in recording.processes):
        return f"Nothing was captured (policy {first.policy!r}, backend {first.backend!r})."
    text = f"Captured by policy {first.policy!r} with backend {first.backend!r}"
    if first.fallback_random:
        text += ", with eager's random numbers (fallback_random)"
    if recording.settings.semantics == SEMANTICS_COMPILED:
        text += ", with torch.compile's semantics (--semantics compiled)"
    if last.decision == "observe":
        text += f", until {path_below(last.because or '')}; from then on the program {_ran(recording)}"
        text += ". What was captured until then is in the counts alone; `--capture none` leaves it out"
    return text + "."


def _ran(recording: Recording) -> str:
    """How a program ran that compiles for itself, with the options that changed something in it."""
    of_run = [process.interventions for process in recording.processes]
    changes = {
        "--override": any(each.replaced and each.overrides for run in of_run for each in run.overrides),
        "--fullgraph": any(each.replaced and not each.overrides for run in of_run for each in run.overrides),
        "--config": any(each.problem is None for run in of_run for each in run.changed_settings),
    }
    changed = " and ".join(option for option, has_changed in changes.items() if has_changed)
    return "ran as it is" + (f" but for {changed}" if changed else "")


def backend_without_effect(recording: Recording) -> list[str]:
    """A sentence where `--backend` was given, and each process compiled for itself."""
    captures = [each for process in recording.processes for each in process.interventions.captures]
    given = {each.backend for each in captures} - {DEFAULT_BACKEND}
    if (
        len(given) != 1
        or any(each.decision != "observe" or each.policy == "none" for each in captures)
        or any(each.startswith("backend=") for each in recording.settings.override or ())
    ):
        return []
    (backend,) = given
    return [f"--backend {backend} had no effect: `--override backend={backend}` replaces the program's own."]


def _was_captured(process: Process) -> bool:
    """Whether anything was compiled that no torch.compile of the program's own asked for."""
    return any(each.outcome == "compiled" and each.compiled_by is None for each in process.frames)


def origin_sentence(recording: Recording) -> str:
    """How it was captured and why that counts otherwise, or that it is a plain trace of torch's."""
    if recording.run is not None or any(process.is_ours for process in recording.processes):
        return f"{capture_sentence(recording)} {why_counts_differ(recording)}".rstrip()
    return "A torch trace that dynamo did not record: it has no frames, graph calls or bytecode."


def versions(recording: Recording) -> str:
    """Which torch and Python it ran on; empty where neither was recorded."""
    torchs = dict.fromkeys(f"torch {p.torch_version}" for p in recording.processes if p.torch_version)
    pythons = dict.fromkeys(f"Python {p.info.python}" for p in recording.processes if p.info.python)
    return ", ".join([*torchs, *pythons])


def command_words(run: Run) -> str:
    """What was run, with a Python by its name alone; which one it was, `versions` says."""
    first, *rest = run.command or [""]
    name = PurePath(first).name
    return shlex.join([name if name.startswith("python") else first, *rest]) if first else ""


def ending(recording: Recording) -> str:
    """How the program ended: as the launcher saw it, and by which exception where one process had one."""
    run = recording.run
    if run is None:
        return "was recorded by torch alone"
    words = ending_words(run, is_running=recording.is_running)
    raised = {
        f", by {process.runtime.end.raised} at {place(process.raised_at)}"
        for process in recording.processes
        if process.runtime.end is not None and process.runtime.end.raised and process.raised_at
    }
    return words + (raised.pop() if run.exit_code and len(raised) == 1 else "")


def ending_words(run: Run, *, is_running: bool = False) -> str:
    """How the program ended, as the launcher saw it."""
    if not run.has_launcher:
        return "ran without `dynamo run`: its exit code is not recorded"
    if run.ended_ns is None and is_running:
        return "is still running: this recording has what it did so far"
    if run.ended_ns is None:
        return "has not ended, or dynamo was killed: this recording is partial"
    after = "" if run.started_ns is None else f" after {seconds((run.ended_ns - run.started_ns) / 1e9)}"
    if run.signal is not None:
        try:
            name = signals.Signals(run.signal).name
        except ValueError:
            name = str(run.signal)
        return f"was killed by {name}{after}: the recording ends there"
    return f"ended with exit code {run.exit_code}{after}"


# Where a program was that did not end by itself: by the stack that it left when a signal came.


_CALLERS_SHOWN = 2


def stopped_lines(recording: Recording) -> list[str]:
    """A line for each process of which that is known."""
    parts = ((stopped_words(process), process_title(process, recording)) for process in recording.processes)
    return [f"Python{where} was {stopped}" for stopped, where in parts if stopped is not None]


def stopped_words(process: Process) -> str | None:
    """`in barrier (torch/distributed/distributed_c10d.py:5), called at x.py:9 in g, from x.py:26 in f`.

    None if it is not known.
    """
    if process.runtime.end is not None or not process.runtime.stopped_at:
        return None
    innermost = process.runtime.stopped_at[-1]
    inside = f"in {frame_name(innermost.function)} ({place(innermost.place)})"
    own = [each for each in reversed(process.runtime.stopped_at) if not is_library(each.place)]
    if not own:
        return inside
    first, *callers = own
    text = f"at {place(first.place)} in {frame_name(first.function)}"
    if first is not innermost:
        text = f"{inside}, called {text}"
    outer = [each for each in callers if each.function != "<module>"][:_CALLERS_SHOWN]
    return text + "".join(f", from {place(each.place)} in {frame_name(each.function)}" for each in outer)


# Whether everything that was to be compiled came out as whole graphs: the verdict of `--fullgraph`.


@dataclass(frozen=True)
class Audit:
    """What counts in it, over all frames that Dynamo tried and did not skip.

    `breaks` are those that parted graphs and those that were raised as errors; `fallbacks` are frames that
    ran eager, or raised, for another reason. `unseen` says why the absence of breaks would mean nothing.
    """

    breaks: int
    distinct_breaks: int
    fallbacks: int
    frames: int
    graphs: int | None
    unseen: str | None

    @property
    def is_clean(self) -> bool:
        """Whether there was something to see, and no break in it."""
        return not (self.unseen or self.breaks or self.fallbacks)

    @property
    def is_failure(self) -> bool:
        """Whether something was found that a whole graph does not have."""
        return bool(self.breaks or self.fallbacks)


def audit(recording: Recording) -> Audit:
    """Judge a finished run. What was not recorded, and a run in which nothing was compiled, is no success."""
    graphs = summarize(recording).graphs
    unseen = None
    if not breaks_recorded(recording) or not recorded(recording, "frames"):
        unseen = "graph breaks could not be recorded"
    elif graphs is None:
        unseen = "graphs could not be recorded"
    elif not graphs:
        unseen = "nothing was compiled"
    frames = [frame for process in recording.processes for frame in process.frames]
    raised = [frame.broke for frame in frames if frame.broke is not None]
    breaks = [each for process in recording.processes for each in process.breaks] + raised
    return Audit(
        breaks=len(breaks),
        distinct_breaks=len(set(map(break_identity, breaks))),
        fallbacks=sum(failed_to_compile(frame) and frame.broke is None for frame in frames),
        frames=sum(failed_to_compile(frame) or frame.outcome == "compiled" for frame in frames),
        graphs=graphs,
        unseen=unseen,
    )


def audited_exit_code(found: Audit, kind: str, exit_code: int | None, failure: int) -> int | None:
    """How the run ends: `failure` instead of the program's own exit code; None where a signal ended it.

    A break that was raised as an error is the reason for whatever code the program ended with. Otherwise the
    program's own failure is the first thing to know.
    """
    if exit_code is None or found.is_clean:
        return exit_code
    is_reason = kind == FULLGRAPH_FIRST and found.is_failure
    return failure if is_reason or exit_code == 0 else exit_code


# Which backend took a graph, or why none did, in a few words.


def untaken_sentence(graph: Graph, process: Process, recording: Recording) -> str:
    """A graph that no backend took: which it is, what became of it, and each backend's reason."""
    outcome = "it runs eager" if graph.is_compiled else "an error with --strict"
    return (
        f"no backend took graph {graph.number} {compile_label(graph.compile_id)} "
        f"{graph_frame(graph)} at {place(graph.frame_place)}{process_title(process, recording)}, "
        f"{outcome}: {declined_because(graph)}"
    )


def untaken_words(recording: Recording) -> str | None:
    """How many graphs no backend took, and why the first one; None where each was taken."""
    untaken = _untaken(recording)
    return f"{number(len(untaken), 'graph')} ({declined_because(untaken[0])})" if untaken else None


def fell_back_at_the_limit(recording: Recording, fallen: int) -> str:
    """How many of the frames that fell back did so at torch's recompile limit, where that is only some."""
    frames = (frame for process in recording.processes for frame in process.frames)
    at_limit = sum(fell_back(frame) and is_recompile_limit(frame.reason) for frame in frames)
    return f" ({at_limit} of them at the recompile limit)" if 0 < at_limit < fallen else ""


def _untaken(recording: Recording) -> list[Graph]:
    return [graph for process in recording.processes for graph in process.graphs if graph.is_untaken]


def declined_because(graph: Graph) -> str:
    """Each backend that was asked for the graph, and its reason."""
    declined = graph.assigned_backend.declined if graph.assigned_backend is not None else ()
    return "; ".join(f"{short_backend(backend)}: {first_line(reason)}" for backend, reason in declined)


# torch's words on a backend's error (torch/_dynamo/exc.py), and on what its result has to be
# (torch/_dynamo/output_graph.py), 2.8 to 2.13.
_BACKEND_RAISED = re.compile(r"BackendCompilerFailed: backend='[^'\n]{0,400}' raised:\s{0,4}")
_NOT_CALLABLE = "compiler_fn did not return callable"


def not_compiled_because(graph: Graph, process: Process) -> str:
    """What became of a graph that has no compiled code, with the error of its backend where that is known."""
    if graph.assigned_backend is not None and graph.assigned_backend.declined:
        return "the backend declined it"
    text = "the backend did not compile it"
    frames = (each for each in process.frames if each.compile_id == graph.compile_id and each.reason)
    frame = next(frames, None) if graph.compile_id is not None else None
    if frame is None:
        return text
    raised = _BACKEND_RAISED.match(frame.reason or "")
    if raised is None:
        return f"it was not compiled: {first_line(frame.reason)}"
    error = first_line((frame.reason or "")[raised.end() :])
    if _NOT_CALLABLE in error:
        return f"{text}: what it returned cannot be called, as None cannot"
    return f"{text}: it raised {error}"


def short_backend(backend: str) -> str:
    """A backend in a file without the file's folder."""
    place_, colon, _ = backend.rpartition(":")
    return os.path.basename(backend) if colon and place_.endswith(".py") else backend
