"""The ways to run a graph by itself with which a failure may show, by how telling they are."""

from collections.abc import Iterator
from dataclasses import replace

from .graph_program import GraphProgram

_SEEDS = range(3)


def variants(program: GraphProgram) -> Iterator[GraphProgram]:
    """The ways with made-up inputs."""
    bare = replace(program, gradients=False, afterwards=False)
    yield from (replace(each, tolerance=1e-2, seed=seed) for seed in _SEEDS for each in (program, bare))
    below_zero = bare.with_values(integers=".random_(-2, 2)", floats=".neg_()")
    for each in (bare, below_zero, bare.with_values(integers=".random_(1000, 1001)", floats="")):
        yield replace(each, form="raises")
    yield replace(program, tolerance=1e-2, strides=True)
    yield replace(program, tolerance=1e-3)
    yield replace(below_zero, tolerance=1e-2)
    yield replace(bare.with_values(integers="", floats=".mul_(1e10)"), tolerance=1e-2)
    yield replace(bare.with_all_values(), tolerance=1e-2)
    extreme = bare.with_values(integers=".random_(0, 100)", floats=".mul_(200).exp_()")  # 0 to infinite
    yield from (replace(extreme, tolerance=1e-2, seed=seed) for seed in _SEEDS)


def variants_of_values(program: GraphProgram) -> Iterator[GraphProgram]:
    """The ways in which values are compared, for a graph that raised no error in the program.

    An error with made-up inputs, such as an index out of range, is not what the program met.
    """
    return (each for each in variants(program) if each.form != "raises")


def variants_with_values(program: GraphProgram) -> Iterator[GraphProgram]:
    """The ways with the program's own values."""
    bare = replace(program, gradients=False, afterwards=False)
    yield from (replace(each, tolerance=rate) for rate in (1e-2, 1e-3) for each in (program, bare))
    yield replace(bare, form="raises")
    yield replace(program, tolerance=1e-2, strides=True)
    yield replace(bare.with_all_values(), tolerance=1e-2)
