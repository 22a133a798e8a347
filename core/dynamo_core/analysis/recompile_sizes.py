"""The sizes that the versions of a frame were compiled for, and which of them were equal."""

from collections.abc import Iterable, Iterator, Sequence

from ..model import Compile, CompileId, GuardFailure, Specialization, Symbol
from ..recording.guards import plain_source, split_comment
from ..shared.failed_guard import sizes_in
from .guard_failures import tensors_of
from .guard_text import tensor_check
from .recompiles import FrameRecompiles

_FLOAT_SYMBOL = "zf"  # torch/utils/_sympy/symbol.py (SymT.FLOAT), 2.8 to 2.13


def sizes_compiled_for(frame: FrameRecompiles, source: str, index: int) -> list[str]:
    """Each size of a dimension once, in the order of the compiles; what was not recorded is missing."""
    any_id = frame.compiles[0].compile_id
    found: list[tuple[int, str]] = []
    for compile_id, symbols in frame.records.symbols.of_frame(any_id).items():
        dimension = f"{source}.size()[{index}]"
        hints = (symbol.hint for symbol in symbols if plain_source(symbol.source) == dimension)
        found += [(compile_id.compile or 0, hint) for hint in hints if compile_id is not None]
    for compile_id, checks in frame.checks.items():
        tensors = tensors_of(checks, source)
        sizes = (tensor.sizes[index] for tensor in tensors if index < len(tensor.sizes))
        found += [(compile_id.compile or 0, str(size)) for size in sizes if size is not None and compile_id]
    return list(dict.fromkeys(size for _, size in sorted(found, key=lambda each: each[0])))


def is_float(symbol: Symbol) -> bool:
    """Whether torch made a float dynamic, and not a size or an integer."""
    return symbol.name.startswith(_FLOAT_SYMBOL)


def adds_a_float(frame: FrameRecompiles, compiles: Sequence[Compile]) -> bool:
    """Whether torch made a float dynamic in these compiles of the frame, and in no other one."""
    own = {compile_.compile_id for compile_ in compiles}
    by_compile = frame.records.symbols.of_frame(compiles[0].compile_id).items()
    floats = {(id_ in own, each.source) for id_, symbols in by_compile for each in symbols if is_float(each)}
    return any(is_new and (False, source) not in floats for is_new, source in floats)


def made_dynamic(frame: FrameRecompiles, compiles: Iterable[Compile]) -> Iterator[tuple[str, int | None]]:
    """What torch made dynamic in these compiles: sizes and integers, since no setting names a float.

    A size that a line of the program turned out to need as a number is none of them.
    """
    fixed = fixed_sizes(frame)
    for compile_ in compiles:
        for symbol in frame.records.symbols.get(compile_.compile_id, ()):
            sizes = list(sizes_in(symbol.source))
            yield from (size for size in sizes if size not in fixed)
            if not (sizes or is_float(symbol)):
                yield symbol.source, None


def fixed_sizes(frame: FrameRecompiles) -> set[tuple[str, int]]:
    """The sizes that a line of the program needs as numbers, each by itself."""
    alone = (each.sources for each in frame.specializations if each.stack and len(each.sources) == 1)
    return {size for sources in alone for size in sizes_in(sources[0])}


def sizes_along_with(
    frame: FrameRecompiles, source: str | None, index: int | None
) -> Iterator[tuple[str, int]]:
    """The sizes that vary too and were equal to this one at first: torch may then need them to stay equal."""
    first = [] if source is None or index is None else sizes_compiled_for(frame, source, index)[:1]
    for other, dimension in _dynamic_sizes(frame) if first else ():
        if sizes_compiled_for(frame, plain_source(other), dimension)[:1] == first:
            yield other, dimension


def _dynamic_sizes(frame: FrameRecompiles) -> dict[tuple[str, int], None]:
    """The sizes that torch made dynamic in any recompile, each once."""
    return dict.fromkeys(size for symbol in frame.symbols for size in sizes_in(symbol.source))


def is_why(
    needed: Specialization,
    wanted: str,
    frame: FrameRecompiles,
    met: Sequence[tuple[Compile, GuardFailure | None]],
) -> bool:
    """Whether what needs a size as a number is why calls did not fit; `met` has what they led to.

    It is for what was compiled then, or for what refused a size by then; 0 and 1 torch compiles apart in any
    case. A version that came for another reason, as one with a mask, may need what these do not.
    """
    if _is_another_size(needed, wanted, frame):
        return False
    failures = [failure for _, failure in met if failure]
    if not failures or None in {each.entry for each in failures}:
        return True
    if any(compile_.compile_id == needed.compile_id for compile_, _ in met):
        return True
    sizes = {(each.source, each.dimension) for each in failures}
    every = [*failures, *(each for compile_, _ in met for each in frame.failures(compile_))]
    refused = {
        each.actual
        for each in every
        if (each.source, each.dimension) in sizes and each.entry == needed.compile_id
    }
    return not refused <= {"0", "1"}


def _is_another_size(needed: Specialization, wanted: str, frame: FrameRecompiles) -> bool:
    """Whether it is another size that is needed, with which the wanted one was taken for one.

    They were equal when that version was compiled; in another one it stayed dynamic.
    """
    alone = (each for each in frame.specializations if wanted in map(plain_source, each.sources))
    dynamic = {each.compile_id for each in frame.symbols if plain_source(each.source) == wanted}
    return len(needed.sources) > 1 and bool(dynamic - {each.compile_id for each in alone})


def is_equal_to_a_fixed_size(
    frame: FrameRecompiles, entry: CompileId | None, source: str, index: int
) -> bool:
    """Whether a version was made for a size that another one had then which never varies.

    With `dynamic=True` torch takes both for one, and what needs the other as a number makes both fixed.
    Source: torch/fx/experimental/symbolic_shapes.py (ShapeEnv, duck_shape), 2.8 to 2.15.
    """
    sizes: dict[tuple[str, int], int | None] = {}
    for check in frame.checks.get(entry, ()):
        tensor = tensor_check(split_comment(check.code)[0])
        if tensor is not None and tensor.class_ != "Parameter":
            name = plain_source(check.source)
            sizes |= {(name, number): size for number, size in enumerate(tensor.sizes)}
    varies = {(plain_source(name), number) for name, number in _dynamic_sizes(frame)}
    own = sizes.pop((source, index), None)
    return own is not None and any(size == own for key, size in sizes.items() if key not in varies)
