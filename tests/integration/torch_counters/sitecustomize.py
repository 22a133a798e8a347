"""Writes torch's own counters at the end of each process, without any of dynamo's code.

Reached through PYTHONPATH, behind dynamo's own start-up code, which must therefore chain to it.
"""

import atexit
import json
import os
import sys


def _write_counters():
    utils = sys.modules.get("torch._dynamo.utils")
    if utils is None or "/torch/_inductor/" in " ".join(sys.orig_argv):
        return
    counters = utils.counters
    metrics = utils.get_compilation_metrics()
    totals = {
        "graphs": counters["stats"]["unique_graphs"],
        "ops": counters["stats"]["calls_captured"],
        "frames": counters["frames"]["total"],
        "frames_compiled": counters["frames"]["ok"],
        "graph_breaks": len(utils.graph_break_reasons),
        "recompiles": sum(entry.recompile_reason is not None for entry in metrics),
        "guards": sum(entry.guard_count or 0 for entry in metrics),
        "compile_time_s": sum((entry.duration_us or 0) / 1e6 for entry in metrics),
        "metrics": len(metrics),
    }
    with open(f"{os.environ['TORCH_COUNTERS_FOLDER']}/{os.getpid()}.json", "w") as file:
        json.dump(totals, file)


if "TORCH_COUNTERS_FOLDER" in os.environ:
    atexit.register(_write_counters)
