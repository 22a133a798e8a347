"""What became of the program, in a sentence or two."""

import signal as signals
from collections.abc import Sequence

from ..model import Process, Recording, Run
from ..shared.settings import SEMANTICS_COMPILED
from .in_progress import in_progress_lines
from .summary import Summary, raised_error
from .words import first_line, number, seconds


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
        parts.append(f"{number(summary.frames_fell_back, 'frame')} fell back to eager")
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


def counted_together(recording: Recording) -> str:
    """Of which processes the counts are sums: `2 ranks together`; "" where one process compiled."""
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
    return "No Python process that could be seen imported torch, so there is nothing to compile."


def _why_no_graph(recording: Recording) -> str:
    in_progress = in_progress_lines(recording)
    if in_progress:
        return f"It did not come further than {in_progress[0]}."
    frames = [frame for process in recording.processes for frame in process.frames]
    raised = [frame for frame in frames if raised_error(frame)]
    if raised:
        return f"Compiling raised an error in the program: {first_line(raised[0].reason)}"
    if frames:
        return f"Dynamo tried {number(len(frames), 'frame')} and compiled none of them."
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
    told = [process for process in recording.processes if process.captures]
    if not told:
        return "How it was captured was not recorded."
    # A launcher of ranks compiles nothing itself.
    busiest = max(told, key=lambda each: (len(each.compiled_graphs), each.rank is not None, len(each.frames)))
    first, last = busiest.captures[0], busiest.captures[-1]
    if last.decision == "failed":
        return f"Capture could not start: {last.because}. The program ran eager."
    if first.decision == "observe":
        return f"Only observed, because {first.because}."
    if last.decision == "observe" and not _was_captured(busiest):
        return f"Only observed, because {last.because}."
    text = f"Captured by policy {first.policy!r} with backend {first.backend!r}"
    if first.fallback_random:
        text += ", with eager's random numbers (fallback_random)"
    if recording.settings.semantics == SEMANTICS_COMPILED:
        text += ", with torch.compile's semantics (--semantics compiled)"
    if last.decision == "observe":
        text += f", until {last.because}; only observed from then on"
    return text + "."


def _was_captured(process: Process) -> bool:
    """Whether anything was compiled that no torch.compile of the program's own asked for."""
    return any(each.outcome == "compiled" and each.compiled_by is None for each in process.frames)


def origin_sentence(recording: Recording) -> str:
    """How it was captured, or that it is a plain trace of torch's."""
    if recording.run is not None or any(process.is_ours for process in recording.processes):
        return capture_sentence(recording)
    return "A torch trace that dynamo did not record: it has no frames, graph calls or bytecode."


def versions(recording: Recording) -> str:
    """Which torch and Python it ran on; empty where neither was recorded."""
    torchs = dict.fromkeys(f"torch {p.torch_version}" for p in recording.processes if p.torch_version)
    pythons = dict.fromkeys(f"Python {p.info.python}" for p in recording.processes if p.info.python)
    return ", ".join([*torchs, *pythons])


def ending(run: Run) -> str:
    """How the program ended, as the launcher saw it."""
    if not run.has_launcher:
        return "ran without `dynamo run`: its exit code is not recorded"
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
