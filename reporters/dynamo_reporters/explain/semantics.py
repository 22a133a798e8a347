"""What torch.compile would change in this program: where its semantics are not eager's, and how we fared."""

import re
from collections.abc import Iterator, Mapping
from typing import Annotated

from dynamo_core.analysis.words import first_line, frame_name, number, place
from dynamo_core.model import Compile, Place, Process, Recording, SemanticDifference
from dynamo_core.shared.quick_dataclass import dataclass

from ..page.blocks import Block, Bullets, Heading, Paragraph

_NAMES_SHOWN = 4
_OF_MODULE = re.compile(r"\._(?:modules|parameters|buffers)\['(\w{1,100})'\]")

# What torch.compile does, of each kind that is recorded (core/dynamo_core/capture/eager_semantics).
_WORDS = {
    "second_backward": "backward runs a second time through what one forward computed; torch.compile raises "
    "an error: its graph frees all at once what eager frees part by part",
    "double_backward": "gradients of gradients are asked for; the backward of torch.compile has none: it "
    "raises an error, or zeros come out",
    "inner_gradient": "a gradient is asked for (a hook, retain_grad, torch.autograd.grad) of a result from "
    "which another result was computed; torch.compile leaves out what flows through the other",
    "caught_exception": "an operation stands in a `try`, which does not catch what a compiled graph raises",
    "assertion": "an assertion on a tensor; torch.compile raises RuntimeError, eager AssertionError",
    "deterministic": "torch.use_deterministic_algorithms is on; compiled code lacks its errors",
    "subclass": "it is given a tensor subclass, which compiled code does not call for each operation",
    "in_place": "an input that requires gradients is changed in place; a second or double backward through "
    "it raises an error under torch.compile",
    "overwritten": "it changes an input in place that its compiled backward reads again: the gradients of "
    "torch.compile are wrong",
    "own_parameters": "the graph holds parameters of its own, so it could not be run again in eager",
    "other_inputs": "AOTAutograd replaced inputs of the graph, so it could not be run again in eager",
}

_FARED = {
    "eager": "Here eager's result was kept.",
    "compiled": "The program got what torch.compile gives.",
    "expected": "",
}


def semantics_section(recording: Recording) -> Iterator[Block]:
    """The section of `dynamo explain`."""
    lines = list(dict.fromkeys(_lines(recording)))
    if lines:
        yield Heading(
            "What torch.compile would change" if _is_kept(recording) else "What torch.compile changes"
        )
        yield Bullets(lines)
        if _is_kept(recording):
            yield Paragraph("`dynamo run --semantics compiled` gives this program torch.compile's semantics.")


def semantics_line(recording: Recording) -> str | None:
    """The line at the end of a run."""
    count = len(set(_lines(recording)))
    if not count:
        return None
    kept = "eager's semantics were kept" if _is_kept(recording) else "see `dynamo explain`"
    return f"torch.compile differs from eager in {number(count, 'place')} of this program; {kept}"


@dataclass(frozen=True)
class Semantics:
    """Where torch.compile does not do what eager does."""

    process: Process
    kind: str
    graph: Annotated[int | None, "null where a whole frame was left to eager"]
    answered: Annotated[
        str,
        'what the program got: "eager", "compiled", or "expected", which was read from the graph of a '
        "program that compiles for itself",
    ]
    place: Place | None
    outputs: list[str]
    inputs: Annotated[list[str], "whose gradients differ"]
    compiled: Annotated[str | None, "what the compiled code raised"]
    eager: Annotated[str | None, "what eager raised; null where it did not"]


def semantics_of(recording: Recording) -> list[Semantics]:
    """Where eager answered, as the JSON document has it."""
    return [
        Semantics(
            process=process,
            kind=each.kind,
            graph=each.graph,
            answered=each.answered,
            place=_place_of(each, compiles),
            outputs=list(each.outputs),
            inputs=list(each.inputs),
            compiled=each.compiled,
            eager=each.eager,
        )
        for process in recording.processes
        for compiles in [_compiles(process)]
        for each in process.semantic_differences
    ]


def _is_kept(recording: Recording) -> bool:
    return any(
        each.answered == "eager" for process in recording.processes for each in process.semantic_differences
    )


def _lines(recording: Recording) -> Iterator[str]:
    for process in recording.processes:
        compiles = _compiles(process)
        for each in process.semantic_differences:
            where = place(_place_of(each, compiles))
            yield f"{where}{_frame(each, compiles)}: {_sentence(each)}. {_FARED[each.answered]}".strip()


def _sentence(each: SemanticDifference) -> str:
    if each.kind == "unused_output":
        return (
            f"no loss used {_some(each.outputs)}; torch.compile gives "
            f"{_some(tuple(map(_name, each.inputs)))} gradients of zeros where eager gives None, and an "
            "optimizer with weight decay or momentum then changes them"
        )
    if each.kind == "exception":
        eagers = "eager computes a result" if each.eager is None else f"eager raises {first_line(each.eager)}"
        return f"compiled code raises {first_line(each.compiled)}, where {eagers}"
    return _WORDS.get(each.kind, each.kind)


def _some(names: tuple[str, ...]) -> str:
    shown = ", ".join(names[:_NAMES_SHOWN])
    return shown + (f" and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else "")


def _name(source: str) -> str:
    """`self.head.weight` of `L['self']._modules['head']._parameters['weight']`."""
    return _OF_MODULE.sub(r".\1", source.replace("L['self']", "self"))


def _place_of(each: SemanticDifference, compiles: Mapping[int | None, Compile]) -> Place | None:
    if each.place is not None:
        return each.place
    compiled = compiles.get(each.graph)
    return None if compiled is None else compiled.place


def _frame(each: SemanticDifference, compiles: Mapping[int | None, Compile]) -> str:
    compiled = compiles.get(each.graph)
    return "" if compiled is None else f", graph {each.graph} of {frame_name(compiled.name)}"


def _compiles(process: Process) -> dict[int | None, Compile]:
    """The compile that each graph is of, by the graph's number."""
    entire = process.entire
    if not process.semantic_differences:
        return {}
    first = {each.compile_id: each for each in reversed(entire.compiles)}
    graphs = reversed(entire.graphs)
    return {graph.number: first[graph.compile_id] for graph in graphs if graph.compile_id in first}
