"""Ranks made by hand, for tests of what is said of them."""

from pathlib import Path

from dynamo_core.model import (
    CallSample,
    CallTimes,
    CompileId,
    Graph,
    Node,
    Place,
    Process,
    ProcessEnd,
    ProcessInfo,
    Recording,
    Runtime,
    TensorInfo,
)

HERE = Place("/home/user/train.py", 7)
LIBRARY = Place("/usr/lib/python3.11/site-packages/torch/distributed/_functional_collectives.py", 179)


def collective(name: str, *, size: int = 8, group: str = "0", line: int = 7) -> Node:
    return Node(
        op="call_function",
        name=name,
        target=f"torch.ops._c10d_functional.{name}",
        args=f"(x, 'sum', '{group}')",
        kwargs="{}",
        tensors=(TensorInfo((size,), None, "torch.float32", "cpu"),),
        place=LIBRARY,
        called_from=Place(HERE.file, line),
    )


def graph(*nodes: Node, **fields: object) -> Graph:
    return Graph(
        number=1, compile_id=CompileId(0, 0), attempt=0, name=None, backend="eager", ops=len(nodes),
        nodes=nodes,
        frame_name="step", frame_place=HERE, is_compiled=True, **fields,  # type: ignore[arg-type]
    )  # fmt: skip


def rank(number: int, *graphs: Graph, ended: bool = True, **fields: object) -> Process:
    return Process(
        Path(f"rank_{number}"), number, ProcessInfo(pid=number + 1, **fields),  # type: ignore[arg-type]
        torch_version="2.13.0", graphs=list(graphs), runtime=Runtime(end=ProcessEnd() if ended else None),
    )  # fmt: skip


def of(*processes: Process) -> Recording:
    return Recording(Path("r"), None, list(processes), len(processes), [])


def running(since_ns: int) -> CallTimes:
    return CallTimes(0, 0.0, {}, (), (), None, running_since_ns=since_ns)


def called(count: int, *, raised: int = 0, since_ns: int | None = None) -> CallTimes:
    """So many calls, one a second, and one that has not returned."""
    calls = tuple(CallSample(number, number * 10**9, 0.1) for number in range(1, count + 1))
    return CallTimes(count, 0.0, {}, calls, calls, None, raised=raised, running_since_ns=since_ns)
