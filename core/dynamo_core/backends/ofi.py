"""The backend `ofi`: a graph traced by TorchScript and optimized for inference (frozen, fused, oneDNN).

One of the first backends of TorchDynamo. Source: torch/jit/_freeze.py (optimize_for_inference), 2.8 to 2.15.
"""

import warnings
from collections.abc import Sequence
from typing import Any

from .declined import Declined
from .for_inference import decline_what_trains


def ofi(gm: Any, example_inputs: Sequence[Any]) -> Any:
    """Compile a graph for inference. Declines what trains, what changes its inputs, and sizes that vary."""
    import torch
    from torch._dynamo.backends.common import fake_tensor_unsupported

    if any(isinstance(value, torch.SymInt) for value in example_inputs):
        raise Declined("sizes are symbolic, and a TorchScript trace has fixed ones")
    decline_what_trains("ofi", example_inputs)

    def trace(gm: Any, inputs: Sequence[Any]) -> Any:
        if _changes_inputs(gm, inputs):
            raise Declined("the graph changes its inputs, which optimize_for_inference may do twice")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # torch 2.15: TorchScript is deprecated
            module = torch.jit.optimize_for_inference(torch.jit.trace(gm, tuple(inputs)))
        return module.forward  # Dynamo cannot wrap a frozen module: it has no `training`

    return fake_tensor_unsupported(trace)(gm, example_inputs)  # Dynamo's inputs are fake, a trace needs real


def _changes_inputs(gm: Any, inputs: Sequence[Any]) -> bool:
    """By running it. Seen with 2.13: of `x.add_(1); return x + y`, the optimized module adds 2."""
    import torch

    with torch.inference_mode(mode=False), torch.no_grad():  # inference tensors count no versions
        copies = [value.clone() if isinstance(value, torch.Tensor) else value for value in inputs]
        before = [copy._version for copy in copies if isinstance(copy, torch.Tensor)]
        gm(*copies)
    return before != [copy._version for copy in copies if isinstance(copy, torch.Tensor)]
