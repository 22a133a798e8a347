"""What became of graphs, in words."""

from collections import Counter
from collections.abc import Iterator, Sequence

from dynamo_core.analysis.graphs.nodes import TIMES
from dynamo_core.analysis.words import memory, number, place
from dynamo_core.compare.difference import (
    ArgumentChange,
    GraphChange,
    GraphSide,
    KernelChange,
    OpChange,
    SavedChange,
    TensorChange,
)


def sentence(change: GraphChange) -> str:
    """Which graphs came, went or changed, with their sizes."""
    of = f" of {change.function}" if change.function else ""
    others = f", and so {_are(change.times - 1)}" if change.times > 1 else ""
    if change.kind == "came":
        return f"{_graphs(change.times, 'more')}{of}{_begun(change.after)}{_each(change.after, change.times)}"
    if change.kind == "went":
        return (
            f"{_graphs(change.times, 'fewer')}{of}{_begun(change.before)}{_each(change.before, change.times)}"
        )
    if change.kind == "split":
        return (
            f"graph {change.before[0].number}{of}{_each(change.before)} is split into {_pieces(change.after)}"
            f"{others}"
        )
    if change.kind == "joined":
        what = f"{_pieces(change.before)}{of}"
        return f"{what} are one, graph {change.after[0].number}{_each(change.after)}{others}"
    if change.times > 1:
        return f"{number(change.times, 'graph')}{of} changed alike, graph {change.after[0].number} first"
    was, now = change.before[0].ops, change.after[0].ops
    ops = f"{number(now, 'op')}" if was == now else f"{_ops(was)} → {_ops(now)} ops"
    has_lines = change.ops or change.tensors or change.argument
    begun = "" if has_lines else _begun(change.after)
    return f"graph {change.after[0].number}{of}{begun} ({ops}) changed"


def changes_in(change: GraphChange) -> Iterator[str]:
    """What changed inside of a graph, with the program's lines."""
    yield from _ops_changed(change.ops)
    yield from map(_tensor, change.tensors)
    if change.argument is not None:
        yield _argument(change.argument)
    yield from change.settings
    if change.kernels is not None:
        yield _kernels(change.kernels)
    if change.saved is not None:
        yield _saved(change.saved)


def _ops_changed(ops: Sequence[OpChange]) -> Iterator[str]:
    """What there is more or less of, and then what there is as much of, at other lines."""
    total: Counter[str] = Counter()
    for op in ops:
        total[op.op] += op.count
    yield from (_op(op) for op in ops if total[op.op])
    moved: dict[str, list[OpChange]] = {}
    for op in ops:
        if not total[op.op]:
            moved.setdefault(op.op, []).append(op)
    for name, parts in moved.items():
        now, was = (next(op for op in parts if (op.count > 0) is is_now) for is_now in (True, False))
        count = sum(op.count for op in parts if op.count > 0)
        many = f"{count} {TIMES} " if count > 1 else ""
        yield f"moved: {many}{name}{_from(was)}{_to(now)}"


def _from(op: OpChange) -> str:
    return f" from {place(op.place)}" if op.place is not None else ""


def _to(op: OpChange) -> str:
    return f" to {place(op.place)}{f' `{op.text}`' if op.text else ''}" if op.place is not None else ""


def _op(op: OpChange) -> str:
    count = "" if abs(op.count) == 1 else f"{abs(op.count)} {TIMES} "
    what = "added" if op.count > 0 else "removed"
    where = place(op.place) if op.place is not None else None
    return f"{what}: {count}{op.op}{_at(where, op.text)}"


def _tensor(change: TensorChange) -> str:
    where = place(change.after_place) if change.after_place is not None else None
    return (
        f"{change.what} {change.before} → {change.after}, first of {change.name}{_at(where, change.text)}; "
        f"{number(change.values, 'value')} in all"
    )


def _argument(change: ArgumentChange) -> str:
    where = place(change.after_place) if change.after_place is not None else None
    return f"{change.op}{_at(where, change.text)} of {change.before} → {change.after}"


def _kernels(change: KernelChange) -> str:
    """The names of generated kernels say which ops were fused."""
    gone, come = (", ".join(names) or "none" for names in (change.gone, change.come))
    calls = f"{change.before} → {change.after}" if change.before != change.after else str(change.after)
    return f"kernels that Inductor generated: {calls}; {gone} → {come}"


def _saved(change: SavedChange) -> str:
    text = f"saved for the backward: {memory(change.before)} → {memory(change.after)}"
    parts = [_op(each) for each in change.tensors]
    return "; ".join([text, *parts])


def _at(where: str | None, text: str) -> str:
    return f" at {where}{f' `{text}`' if text else ''}" if where else ""


def _graphs(times: int, word: str) -> str:
    return f"{number(times, 'graph')} {word}"


def _are(times: int) -> str:
    return f"{'is' if times == 1 else 'are'} {number(times, 'other')}"


def _begun(sides: Sequence[GraphSide]) -> str:
    """Where the function begins, or goes on behind a break: many are called `forward`."""
    return "" if sides[0].place is None else f" at {place(sides[0].place)}"


def _each(sides: Sequence[GraphSide], times: int = 1) -> str:
    return f" ({number(sides[0].ops, 'op')}{' each' if times > 1 else ''})"


def _pieces(sides: Sequence[GraphSide]) -> str:
    numbers, ops = [str(side.number) for side in sides], [_ops(side.ops) for side in sides]
    return f"graphs {_listed(numbers)} of {_listed(ops)} ops"


def _ops(count: int | None) -> str:
    return "?" if count is None else str(count)


def _listed(parts: Sequence[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else parts[0]
