"""The sizes of a tensor that the versions of a frame were compiled for, by their guards and symbols."""

from ..recording.guards import plain_source, split_comment
from .guard_text import tensor_check
from .recompiles import FrameRecompiles


def sizes_compiled_for(frame: FrameRecompiles, source: str, index: int) -> list[str]:
    """Each size of a dimension once, in the order of the compiles; what was not recorded is missing."""
    any_id = frame.compiles[0].compile_id
    found: list[tuple[int, str]] = []
    for compile_id, symbols in frame.records.symbols.of_frame(any_id).items():
        dimension = f"{source}.size()[{index}]"
        hints = (symbol.hint for symbol in symbols if plain_source(symbol.source) == dimension)
        found += [(compile_id.compile or 0, hint) for hint in hints if compile_id is not None]
    for compile_id, checks in frame.records.checks.of_frame(any_id).items():
        of_source = [check.code for check in checks if plain_source(check.source) == source]
        tensors = filter(None, (tensor_check(split_comment(code)[0]) for code in of_source))
        sizes = (tensor.sizes[index] for tensor in tensors if index < len(tensor.sizes))
        found += [(compile_id.compile or 0, str(size)) for size in sizes if size is not None and compile_id]
    return list(dict.fromkeys(size for _, size in sorted(found, key=lambda each: each[0])))
