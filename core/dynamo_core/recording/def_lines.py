"""Has a decorated function stand at its `def`: torch knows it by its code's first line, a decorator's."""

from itertools import chain

from ..model import Place, Process


def use_def_lines(process: Process) -> None:
    """Put the line of the `def` in place of the first one, wherever a function stands that Dynamo was given.

    A call on the decorator's line stays there: `@torch.compile` itself is one.
    """
    moved = {first: at_def for at_def, first in process.first_lines.items()}
    if not moved:
        return
    at_functions = (
        *(process.frames, process.compiles, process.compiling, process.interrupted),
        *(process.not_compiled, process.put_off, process.bytecodes, process.tracing),
    )
    for each in chain.from_iterable(at_functions):
        _move(each, "place", moved)
    for graph in process.graphs:
        _move(graph, "frame_place", moved)


def _move(item: object, name: str, moved: dict[Place, Place]) -> None:
    at_def = moved.get(getattr(item, name))
    if at_def is not None:
        object.__setattr__(item, name, at_def)  # frozen ones too: nobody has seen them yet
