"""The run and its processes as they say of themselves: command, versions, settings, environment, records."""

import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from dynamo_core.model import Process, Recording, Run

from ..page.blocks import Table
from ..page.blocks import table as block_table
from ..profile.exports.names import process_name
from .blocks import table
from .element import Child, h
from .links import Links

_MOST_PROCESSES = 100
_MOST_ROWS = 500


def run_facts(recording: Recording, links: Links) -> Iterator[Child]:
    """A table for the run, and one for each process."""
    if recording.run is not None:
        yield h("h3", "The run")
        yield table(_facts(_of_run(recording.run)), links, None)
    for process in recording.processes[:_MOST_PROCESSES]:
        name = process_name(process)
        yield h("h3", name[:1].upper() + name[1:])
        yield table(_facts(_of_process(process)), links, process)
    more = len(recording.processes) - _MOST_PROCESSES
    if more > 0:
        yield h("p", f"… and {more:,} more processes; --format json has all", class_="dim")


def _facts(facts: Mapping[str, Any]) -> Table:
    rows = [[name, _shown(value)] for name, value in facts.items() if value not in (None, "", [], {})]
    return Table(block_table("|", []).columns, rows[:_MOST_ROWS])


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return "\n".join(f"{name} = {_shown(inner)}" for name, inner in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _of_run(run: Run) -> dict[str, Any]:
    settings = {name: value for name, value in run.settings.recorded.items() if value not in (None, [], {})}
    return {
        "command": shlex.join(run.command or []),
        "in": run.cwd,
        "started": run.started,
        "exit code": run.exit_code,
        "signal": run.signal,
        "recorded by": f"dynamo {run.dynamo}" if run.dynamo else None,
        "settings": settings,
    }


def _of_process(process: Process) -> dict[str, Any]:
    info, state = process.info, process.state
    return {
        "stream": process.stream.name,
        "pid": info.pid,
        "rank": process.rank,
        "command line": shlex.join(info.argv) if info.argv else None,
        "Python": f"{info.python} ({info.executable})" if info.python else None,
        "torch": process.torch_version,
        "torch's commit": info.torch_git,
        "CUDA": info.cuda_build,
        "ROCm": info.hip_build,
        "devices": state.devices,
        "torch's settings that are not the defaults": state.torch_config,
        "environment": info.environment,
        "records": dict(sorted(process.record_counts.items(), key=lambda each: (-each[1], each[0]))),
    }
