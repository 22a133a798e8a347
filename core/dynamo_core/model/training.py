"""What AOTAutograd made of a graph: its forward, its backward, and what is saved between them."""

from collections.abc import Mapping
from typing import Literal

from ..shared.quick_dataclass import dataclass
from .graphs import TensorInfo
from .ids import CompileId, Place


@dataclass(frozen=True)
class SavedTensor:
    """A value that a forward graph saves for its backward.

    `kind` says where its memory comes from: input (of the forward, a parameter among them), output (which the
    user is given too), or activation. `storage` names the node that made the memory. Bytes are those of the
    elements, for symbolic sizes with the values that it was compiled with; None where they are not known.
    `tensor` is None for a size, of which `symbol` is the expression, and for other values.
    """

    name: str
    kind: Literal["input", "output", "activation"]
    operator: str | None
    tensor: TensorInfo | None
    symbol: str | None
    bytes: int | None
    storage: str
    storage_bytes: int | None
    place: Place | None

    @property
    def has_symbolic_size(self) -> bool:
        """Whether its size depends on what the graph is called with."""
        return self.tensor is not None and any(isinstance(size, str) for size in self.tensor.shape)


@dataclass(frozen=True)
class AotPair:
    """The forward and backward graph that AOTAutograd made of a graph of Dynamo's, or of a part of it.

    Operators are counted by name (`aten.mm`). `inputs` and `outputs` are the forward's own, without what is
    saved; `tangents` and `gradients` those of the backward. `recomputed` are operators of the forward that
    the backward computes again, views aside. `graph` is None where the graph's number was not recorded.
    """

    compile_id: CompileId | None
    attempt: int
    graph: int | None
    joint: Mapping[str, int] | None
    forward: Mapping[str, int]
    backward: Mapping[str, int]
    inputs: int
    outputs: int
    tangents: int
    gradients: int
    saved: tuple[SavedTensor, ...]
    recomputed: Mapping[str, int]


@dataclass(frozen=True)
class Optimizer:
    """A class of optimizers that the program made one of, and the file that its `step` is written in."""

    name: str
    module: str
    file: str
