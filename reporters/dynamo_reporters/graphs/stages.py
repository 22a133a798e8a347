"""The stages of a compile: the texts that torch records on the way from Dynamo's graph to the code that runs.

Source: the `trace_structured` calls of torch/_dynamo, torch/_functorch/_aot_autograd and torch/_inductor
(compile_fx.py, debug.py, graph.py), 2.8 to 2.15.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from dynamo_core.model import CompileId, Process, Stage

DYNAMO = "dynamo"

# What a stage is called on the command line, and the records that hold it, in the order of a compile.
STAGES = {
    DYNAMO: ("dynamo_output_graph",),
    "ddp-split": ("optimize_ddp_split_graph", "optimize_ddp_split_child"),
    "pre-grad": ("before_pre_grad_graph", "after_pre_grad_graph"),
    "aot-joint": ("aot_joint_graph",),
    "aot-forward": ("aot_forward_graph",),
    "aot-backward": ("aot_backward_graph",),
    "aot-inference": ("aot_inference_graph", "aot_inference_graph_after_hop_passes"),
    "compiled-autograd": ("compiled_autograd_graph_pre_reordering", "compiled_autograd_graph"),
    "joint": ("before_joint_graph", "after_joint_graph"),
    "post-grad": ("before_post_grad_graph", "after_post_grad_graph", "inductor_post_grad_graph"),
    "output-code": ("inductor_output_code",),
    "runnable": ("fx_graph_runnable",),
}
GROUPS = {
    "aot": ("aot-joint", "aot-forward", "aot-backward", "aot-inference"),
    "all": tuple(STAGES),
}
Way = Literal["forward", "backward"]
Direction = Literal["forward", "backward", "joint"]
# Of the records whose name says it; there is one graph only where it is None.
_DIRECTIONS: Mapping[str, Direction | None] = {
    "aot_joint_graph": "joint",
    "before_joint_graph": "joint",
    "after_joint_graph": "joint",
    "aot_forward_graph": "forward",
    "aot_backward_graph": "backward",
    "aot_inference_graph": None,
    "aot_inference_graph_after_hop_passes": None,
}
_TANGENTS = re.compile(r"\btangents_\d")
_PRIMALS = re.compile(r"\bprimals_\d")


def stage_names(asked: Iterable[str]) -> list[str]:
    """The stages that are meant, each once: groups are replaced by their stages, `_` may stand for `-`."""
    plain = [name.lower().replace("_", "-") for name in asked]
    return list(dict.fromkeys(stage for name in plain for stage in GROUPS.get(name, (name,))))


def records_of(stages: Iterable[str]) -> frozenset[str]:
    """The names of the records that hold these stages."""
    return frozenset(record for stage in stages for record in STAGES.get(stage, ()))


def recorded_stages(processes: Iterable[Process]) -> list[str]:
    """The stages of which a recording has anything, asked for or not."""
    counts = [process.record_counts for process in processes]
    return [stage for stage, records in STAGES.items() if any(r in c for r in records for c in counts)]


def stage_of(record: str) -> str:
    """The stage that a record belongs to."""
    return next((stage for stage, records in STAGES.items() if record in records), record)


def direction(stage: Stage) -> Direction | None:
    """Whether a text is of a `forward`, `backward` or `joint` graph; None where there is one graph only."""
    return _DIRECTIONS[stage.name] if stage.name in _DIRECTIONS else way_by_inputs(stage.text)


def way_by_inputs(text: str) -> Way | None:
    """The same of a graph that is not joint, by the names that AOTAutograd gives to its inputs.

    Those of a backward graph it names after the tangents among them.
    """
    if _TANGENTS.search(text):
        return "backward"
    return "forward" if _PRIMALS.search(text) else None


def stage_title(stage: Stage) -> str:
    """The record's name, and which way the graph goes where the name does not say."""
    way = direction(stage)
    return stage.name if way is None or way in stage.name else f"{stage.name}, {way}"


def texts_by_compile(process: Process, stages: Sequence[str]) -> list[tuple[CompileId | None, list[Stage]]]:
    """The texts of these stages, compile by compile, in the order in which torch wrote them.

    Dynamo's own graph comes first: the model holds it with the graphs.
    """
    found: dict[CompileId | None, list[Stage]] = {}
    if DYNAMO in stages:
        for graph in process.graphs:
            if graph.code is not None:
                stage = Stage("dynamo_output_graph", graph.compile_id, graph.code)
                found.setdefault(graph.compile_id, []).append(stage)
    records = records_of(stages)
    for stage in process.stages:
        if stage.name in records:
            found.setdefault(stage.compile_id, []).append(stage)
    return list(found.items())


def missing_stages(processes: Sequence[Process], asked: Iterable[str]) -> list[str]:
    """Those stages and groups asked for of which there is no text."""
    return [
        name
        for name in asked
        if not any(texts_by_compile(process, stage_names([name])) for process in processes)
    ]
