"""What a recording cannot say, and why: where nothing is found of it, that is no sign that there was none."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial

from ..model import Process, Recording
from .summary import breaks_recorded_in, recompiles_recorded_in, summarize

_PLAIN_TRACE = "a plain torch trace does not have it; `dynamo run` records it"
_NO_FIRST_RECORD = "the first record of a process is missing: what there is of it may be incomplete"
_OLD_TRACE = "a trace of this version of torch does not tell; `dynamo run` records it"
# By kind of finding: the count, as `Summary` has it, without which nothing is known of such findings.
_COUNT_OF: Mapping[str, str] = {
    "graph break": "distinct_graph_breaks",
    "fell back to eager": "frames_fell_back",
    "compiler error": "frames_fell_back",
    "recompile": "recompiles",
    "recompile limit": "recompiles",
    "compiled anew": "recompiles",
    "backend declined": "graphs",
    "ranks differ": "graphs",
    "wrong result": "graphs",
}
_ONLY_OURS = ("frames", "graph calls", "bytecode")


def unrecorded(recording: Recording) -> dict[str, str]:
    """By its probe's name, or as counts have it: what was not recorded in some process, and why."""
    found = {"processes": recording.engine_failures[0]} if recording.engine_failures else {}
    for process in recording.processes:
        reasons = dict(process.failed_probes)
        no_counts = process.info.calls_not_recorded or process.calls_problem
        if no_counts and (process.is_ours or recording.run is not None):
            reasons["graph calls"] = no_counts
        if not process.is_ours:
            why = _PLAIN_TRACE if recording.run is None else _NO_FIRST_RECORD
            reasons |= dict.fromkeys(_ONLY_OURS, why)
            if not breaks_recorded_in(process):
                reasons["graph breaks"] = _OLD_TRACE
        if not recompiles_recorded_in(process):
            reasons["recompiles"] = _OLD_TRACE
        for name, why in reasons.items():
            found.setdefault(name, why)
    return found


def probe_failed(processes: Iterable[Process], *probes: str) -> str | None:
    """Why one of these probes failed in one of the processes; None where all of them worked."""
    whys = (process.failed_probes.get(probe) for process in processes for probe in probes)
    return next((why for why in whys if why is not None), None)


def were_not_recorded(what: str, processes: Iterable[Process], *probes: str) -> str:
    """`Graphs were not recorded (KeyError: 'x').`; the reason is there where a probe failed."""
    why = probe_failed(processes, *probes)
    return f"{what} were not recorded" + (f" ({why})." if why is not None else ".")


def unseen_kinds(recording: Recording) -> frozenset[str]:
    """The kinds of findings of which the recording cannot say that there were none."""
    count_of = partial(getattr, summarize(recording))
    return frozenset(kind for kind in _COUNT_OF if not could_be_seen(kind, count_of))


def could_be_seen(kind: str, count_of: Callable[[str], int | None]) -> bool:
    """Whether a run without a finding of this kind had none; `count_of` gives a count of `Summary`."""
    count = _COUNT_OF.get(kind)
    return count is None or count_of(count) is not None
