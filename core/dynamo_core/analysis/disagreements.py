"""Where the recording and torch's own counters differ."""

from ..model import Process


def disagreements(processes: list[Process]) -> list[str]:
    """Where our counts differ from torch's own at the process's end; there should be none."""
    found = []
    for process in processes:
        totals = process.end.torch_totals if process.end else None
        if not totals or not process.is_ours:
            continue
        ours = {
            "unique_graphs": len(process.compiled_graphs),
            "frames_total": len(process.counted_frames),
            "frames_ok": sum(frame.ok for frame in process.counted_frames),
            "graph_break_reasons": len(process.breaks),
        }
        where = f"process {process.info.pid}"
        for name, count in ours.items():
            torchs = totals.get(name, count)
            if torchs < count:
                found.append(f"{where}: torch's own count of {name} was reset by the program")
            elif torchs > count:
                found.append(f"{where}: torch counts {torchs} {name}, the recording has {count}")
    return found
