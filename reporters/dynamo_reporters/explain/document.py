"""`dynamo explain` as JSON, with what no other report goes into: one declaration for it and its schema."""

from typing import Annotated, Any

from dynamo_core.analysis.disagreements import disagreements
from dynamo_core.analysis.findings import Finding, find
from dynamo_core.analysis.in_progress import in_progress_lines
from dynamo_core.analysis.stopped import stopped_lines
from dynamo_core.analysis.summary import Summary, summarize
from dynamo_core.analysis.time.compile_phases import Phase, phases_of
from dynamo_core.analysis.verdict import verdict
from dynamo_core.model import Recording
from dynamo_core.shared.declared import Count
from dynamo_core.shared.quick_dataclass import dataclass

from ..parts.after_freeze import FreezeDocument, freeze_of
from ..parts.verified import Verified, verified_of
from .limits import limit_lines
from .overrides import Overrides, overrides_of
from .process_document import ExplainedProcess, explained
from .semantics import Semantics, semantics_of


@dataclass(frozen=True)
class Explained:
    """The whole picture of a recording."""

    verdict: Annotated[str, "the first sentence of the text report"]
    summary: Annotated[Summary, "over all processes"]
    findings: Annotated[list[Finding], "what to do first, the worst first"]
    compile_phases: Annotated[list[Phase] | None, "exclusive times: they add up to compile_time_s"]
    run: Annotated[
        dict[str, Any] | None,
        "dynamo_run.json: command, cwd, settings, started, started_ns, ended_ns, exit_code, signal, notes; "
        "null for a plain torch trace",
    ]
    python_processes: Annotated[
        Count | None, "Python processes that started with our start-up code, torch or not"
    ]
    in_progress: Annotated[
        list[str],
        "compiles and calls of compiled graphs that had begun and not ended when the recording ends, or that "
        "were interrupted",
    ]
    stopped_at: Annotated[
        list[str], "where Python was in each process that SIGINT or SIGTERM ended, if it left its stack"
    ]
    limits: Annotated[
        list[str],
        "frames that run eager for what capturing them would cost, and the option that says so",
    ]
    processes: Annotated[list[ExplainedProcess], "one for each process that imported torch"]
    freeze: Annotated[FreezeDocument | None, "of --freeze-after; null where it was not given"]
    overrides: Annotated[Overrides, "what --override, --config or --fullgraph replaced"]
    verified: Annotated[Verified | None, "what --verify found; null where it was not asked for"]
    semantics: Annotated[
        list[Semantics], "where torch.compile's semantics are not eager's, as far as this run met it"
    ]
    problems: Annotated[list[str], "what could not be seen, a sentence each"]


def explained_of(recording: Recording) -> Explained:
    """All that is known of a recording, in short."""
    summary = summarize(recording)
    compiles = [compile_ for process in recording.processes for compile_ in process.compiles]
    return Explained(
        verdict=verdict(recording, summary),
        summary=summary,
        findings=find(recording),
        compile_phases=phases_of(compiles) if compiles else None,
        run=recording.run.as_json() if recording.run is not None else None,
        python_processes=recording.python_processes,
        in_progress=in_progress_lines(recording),
        stopped_at=stopped_lines(recording),
        limits=limit_lines(recording),
        processes=list(map(explained, recording.processes)),
        freeze=freeze_of(recording),
        overrides=overrides_of(recording),
        verified=verified_of(recording),
        semantics=semantics_of(recording),
        problems=recording.problems + disagreements(recording.processes),
    )
