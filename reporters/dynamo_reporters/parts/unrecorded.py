"""What a page says where it has nothing to show, or not everything, as it was not recorded."""

from collections.abc import Iterable, Iterator

from dynamo_core.analysis.not_recorded import probe_failed, were_not_recorded
from dynamo_core.analysis.summary import graphs_recorded
from dynamo_core.model import Process, Recording

from ..page.blocks import Block, Bullets, Paragraph


def no_graphs(recording: Recording, there_was_none: str) -> str:
    """`there_was_none`, if that is known; else that graphs were not recorded, and why."""
    if graphs_recorded(recording):
        return there_was_none
    return were_not_recorded("Graphs", recording.processes, "graphs")


def graphs_missing(processes: Iterable[Process]) -> Iterator[Block]:
    """Above the graphs of processes in which not all of them were recorded, and why."""
    processes = list(processes)
    why = probe_failed(processes, "graphs")
    if why is not None:
        shown = any(process.graphs for process in processes)
        yield Paragraph(f"{'Not all graphs' if shown else 'No graph'} could be recorded: {why}", "warning")


def also_missing(process: Process, *probes: str) -> Iterator[Block]:
    """What a page would show beside its subject, and cannot, since these probes failed."""
    failed = [f"{probe}: not recorded ({why})" for probe in probes if (why := probe_failed([process], probe))]
    if failed:
        yield Bullets(failed, "warning")
